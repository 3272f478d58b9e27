/** Acquire and release when nobody else wants the same lock. */
import { performance } from 'node:perf_hooks';
import type { Acquire, Connected } from './contender.ts';
import { atLeast, type Candidate, type Round, report, takeTurns, timed } from './result.ts';

export interface Way {
  readonly way: string;
  /** Each wants a resource of its own, all at once. */
  readonly tasks: number;
  readonly pairs: number;
  /** Of the ratio of ours. */
  readonly goal: number;
}

/** Reports a row for each of them, the floor first, in each way. */
export async function uncontended(
  figure: string,
  contenders: ReadonlyMap<string, Connected>,
  ways: readonly Way[],
  rounds: number,
): Promise<void> {
  for (const { way, tasks, pairs, goal } of ways) {
    const candidates = Array.from(contenders, ([name, { task }]): Candidate => {
      const acquires = Array.from({ length: tasks }, (_, m) => task(`${figure}:${m}`));
      return { name: `${name}, ${way}`, round: () => atOnce(acquires, pairs) };
    });
    await compare(figure, candidates, rounds, goal);
  }
}

async function compare(
  figure: string,
  candidates: readonly Candidate[],
  rounds: number,
  goal: number,
): Promise<void> {
  for (const outcome of await takeTurns(candidates, rounds)) {
    const isOurs = outcome.name.startsWith('holdfast');
    report({
      figure,
      what: outcome.name,
      measured: {
        'pairs/s': outcome.perSecond,
        'median µs': outcome.median,
        'p99 µs': outcome.p99,
      },
      ...(isOurs ? atLeast(goal, outcome.rateRatio) : { ratio: outcome.rateRatio }),
    });
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
