/** Acquire and release when nobody else wants the same lock. */
import { performance } from 'node:perf_hooks';
import type { Acquire, Connected } from './contender.ts';
import { atLeast, type Candidate, type Round, report, takeTurns, timed } from './result.ts';

export interface Way {
  readonly way: string;
  /** Each wants a resource of its own, all at once. */
  readonly tasks: number;
  readonly pairs: number;
  /** Of the ratio of ours. Default: none. */
  readonly goal?: number;
}

export interface Comparison {
  /** The floor first. */
  readonly contenders: ReadonlyMap<string, Connected>;
  readonly ways: readonly Way[];
  readonly rounds: number;
  /** Who runs elsewhere, and measures itself. */
  readonly others?: (way: Way) => readonly Candidate[];
}

/** Reports a row for each of them, the floor first, in each way. */
export async function uncontended(
  figure: string,
  { contenders, ways, rounds, others }: Comparison,
): Promise<void> {
  for (const each of ways) {
    const { way, tasks, pairs, goal } = each;
    const candidates = Array.from(contenders, ([name, { task }]): Candidate => {
      const acquires = Array.from({ length: tasks }, (_, m) => task(`${figure}:${m}`));
      return { name: `${name}, ${way}`, round: () => atOnce(acquires, pairs) };
    });
    const all = [...candidates, ...(others?.(each) ?? [])];
    for (const outcome of await takeTurns(all, rounds)) {
      const isOurs = outcome.name.startsWith('holdfast');
      report({
        figure,
        what: outcome.name,
        measured: {
          'pairs/s': outcome.perSecond,
          'median µs': outcome.median,
          'p99 µs': outcome.p99,
        },
        ...(isOurs && goal !== undefined
          ? atLeast(goal, outcome.rateRatio)
          : { ratio: outcome.rateRatio }),
      });
    }
  }
}

async function atOnce(acquires: readonly Acquire[], pairs: number): Promise<Round> {
  const since = performance.now();
  const each = await Promise.all(
    acquires.map((acquire) =>
      timed(Math.ceil(pairs / acquires.length), async () => (await acquire())()),
    ),
  );
  const micros = each.flatMap((own) => Array.from(own.micros));
  return { perSecond: micros.length / ((performance.now() - since) / 1000), micros };
}
