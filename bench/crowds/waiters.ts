/**
 * Processes that want the same lock all the time, with more and more tasks: what a hand-off costs
 * must not grow with the number of those who wait.
 */
import { Crew, columns, type Round } from '../measuring/crew.ts';
import { type Result, report, shuffled } from '../measuring/result.ts';
import type { Place, Subject } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

/** A great queue takes a while to form. */
const SETTLE_MS = 2_000;
const FOR_MS = 3_500;

export async function measure([place]: readonly [Place]): Promise<void> {
  const subject = await subjectAt(place.url);
  const { contended, waiters } = subject;
  // Where each process has one task, ours are fair as they are.
  const each = waiters.processes === 'all';
  const contenders = each ? ['holdfast'] : contended.filter((name) => name !== 'holdfast');
  const crew = await Crew.at(place, contenders);
  const rounds = new Map<string, Round>();
  for (const tasks of waiters.tasks) {
    for (const contender of shuffled(contenders)) {
      const job = { contender, url: place.url, tasks, holdMs: 1 };
      const processes = waiters.processes === 'all' ? tasks : waiters.processes;
      const extent = { settleMs: SETTLE_MS, forMs: FOR_MS };
      rounds.set(nameOf(contender, tasks), await crew.round({ ...job, ...extent }, processes));
    }
  }
  await crew.end();

  const of = (contender: string, tasks = 0): Result['measured'] => {
    const all = columns(rounds.get(nameOf(contender, tasks)) as Round);
    // In a great crowd it is longer than a round.
    return { ...all, 'longest wait / median': Number.NaN };
  };
  const gap = 'gap median ms';
  for (const contender of contenders) {
    for (const tasks of waiters.tasks) {
      const measured = of(contender, tasks);
      const ratio = (measured[gap] ?? 0) / (of(contenders[0] ?? '', tasks)[gap] ?? 0);
      const least = of(contender, waiters.tasks[0]);
      const goal = contender.startsWith('holdfast') ? goalOf(subject, measured, least) : {};
      report({ what: nameOf(contender, tasks), measured, ratio, ...goal });
    }
  }
}

function nameOf(contender: string, tasks: number): string {
  return `${contender}, ${tasks} waiters`;
}

/** `least` is of the smallest crowd. */
function goalOf(
  { asks, waiters }: Subject,
  measured: Result['measured'],
  least: Result['measured'],
): Partial<Result> {
  const { steady, growth, asks: most } = waiters;
  const grown = (measured[steady] ?? 0) / (least[steady] ?? 0);
  const asked = measured[`${asks} an acquisition`] ?? Number.NaN;
  const name = steady.replace(' median ms', '').replace(' an acquisition', '');
  const steadily = `${name} ≤ ${growth} × that of ${waiters.tasks[0]} waiters`;
  if (most === undefined) return { goal: steadily, met: grown <= growth };
  return { goal: `${steadily}, ${asks} ≤ ${most}`, met: grown <= growth && asked <= most };
}
