/**
 * Holdfast beside the other libraries on one store, in one run: a free lock, one
 * after another and 64 at once, and a lock that four processes pass to each other. Other libraries
 * come with their defaults, and tuned for contention, which makes no difference to a lock alone.
 */
import { candidatesOf, connectedOf } from '../cost/uncontended.ts';
import { columns, type Round, roundsOf } from '../measuring/crew.ts';
import { type Outcome, quantile, report, shuffled, takeTurns } from '../measuring/result.ts';
import type { Place, Subject } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

/** Fewer than in the figures of their own: all of it takes two minutes at most. */
const ROUNDS = 3;
const PROCESSES = 4;

/** One that has released lets the others have it: at once, it would often get the lock again. */
const PACE = { tasks: 4, holdMs: 6, pauseMs: 3, settleMs: 500, forMs: 3_000 };

export async function measure([place]: readonly [Place]): Promise<void> {
  const subject = await subjectAt(place.url);
  const [floor = ''] = subject.alone[0] ?? [];
  // With one task a process, ours are fair as they are.
  const wanted = subject.contended.filter((name) => name !== 'holdfast, fair');
  const names = [...new Set([floor, ...wanted])];
  const observer = await subject.observe(place);
  const single = names.filter((name) => !name.endsWith(', tuned'));
  /** Of each in a second. */
  const pairs = async (tasks: 1 | 64): Promise<Map<string, number>> => {
    const contenders = await connectedOf(subject, single, place.url);
    const way = { tasks, pairs: subject.pairs[tasks === 1 ? 0 : 1] };
    const outcomes = await takeTurns(candidatesOf(contenders, way), ROUNDS);
    for (const { close } of contenders.values()) await close();
    return new Map(single.map((name, n) => [name, (outcomes[n] as Outcome).perSecond]));
  };
  const [alone, many] = [await pairs(1), await pairs(64)];
  await observer.close?.();
  const jobs = shuffled(wanted).map((contender) => ({ contender, ...PACE }));
  const rounds = await roundsOf(place, PROCESSES, jobs);
  for (const what of names) {
    const round = rounds.find(({ job }) => job.contender === what);
    const measured = {
      'alone: pairs/s': alone.get(what) ?? Number.NaN,
      '64 at once: pairs/s': many.get(what) ?? Number.NaN,
      ...(round && passed(round, subject)),
    };
    report({ what, measured });
  }
}

function passed(round: Round, { asks }: Subject): Record<string, number> {
  const all = columns(round);
  const waits = round.all.flatMap((one) => [...one.waits, ...one.late]);
  const asked = `${asks} an acquisition`;
  return {
    'hand-off: median ms': all['gap median ms'] ?? Number.NaN,
    'p99 ms': all['gap p99 ms'] ?? Number.NaN,
    'longest wait ms': quantile(waits, 1) / 1e6,
    [asked]: all[asked] ?? Number.NaN,
    failures: all.failures ?? Number.NaN,
  };
}
