/**
 * Four processes in the same store, each with a lock of its own, as fast as they can: how long a
 * pair takes then, and whether all get an equal share.
 */
import { Crew } from '../measuring/crew.ts';
import type { Happened } from '../measuring/member.ts';
import { median, quantile, report } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const PROCESSES = 4;
const ROUNDS = 3;
const MEASURE_MS = 4_000;
/** Half of an equal share. */
const GOAL = 12.5;

export async function measure([place]: readonly [Place]): Promise<void> {
  const { alone } = await subjectAt(place.url);
  const names = alone[0]?.filter((name) => !name.includes('rowid table')) ?? [];
  const crew = await Crew.at(place, names);
  const rounds = new Map(names.map((name) => [name, [] as (readonly Happened[])[]]));
  for (let n = 0; n < ROUNDS; n++) {
    for (const [contender, own] of rounds) {
      const job = { contender, url: place.url, tasks: PROCESSES, apart: true, holdMs: 0 };
      own.push((await crew.round({ ...job, forMs: MEASURE_MS }, PROCESSES)).all);
    }
  }
  await crew.end();
  for (const [name, own] of rounds) row(name, own);
}

function row(name: string, rounds: readonly (readonly Happened[])[]): void {
  const totals = rounds.map((round) => round.reduce((sum, one) => sum + one.acquisitions, 0));
  const shares = rounds.flatMap((round, n) =>
    round.map((one) => (100 * one.acquisitions) / (totals[n] ?? 0)),
  );
  const times = rounds.flat().map(({ turns }) => {
    // From one ask to the next.
    const pairs = turns.slice(1).map(([asked], n) => (asked - (turns[n]?.[0] ?? 0)) / 1000);
    return { median: median(pairs), p99: quantile(pairs, 0.99), longest: quantile(pairs, 1) };
  });
  const least = Math.min(...shares);
  report({
    what: `${name}, ${PROCESSES} processes, each a lock of its own`,
    measured: {
      'pairs/s': median(totals) / (MEASURE_MS / 1000),
      'median µs': median(times.map((one) => one.median)),
      'p99 µs': median(times.map((one) => one.p99)),
      'longest ms': Math.max(...times.map((one) => one.longest)) / 1000,
      'least share %': least,
      'greatest share %': Math.max(...shares),
    },
    ...(name === 'holdfast' && { goal: `least share ≥ ${GOAL} %`, met: least >= GOAL }),
  });
}
