/** What a fence adds to a write: each fenced candidate beside the bare one of its pair. */
import { type Candidate, report, takeTurns } from '../result.ts';

const ROUNDS = 7;

/** Reports a row for each, the floor first. */
export async function pairs(figure: string, candidates: readonly Candidate[]): Promise<void> {
  for (const outcome of await takeTurns(candidates, ROUNDS)) {
    report({
      figure,
      what: outcome.name,
      measured: {
        'writes/s': outcome.perSecond,
        'median µs': outcome.median,
        'p99 µs': outcome.p99,
      },
      ratio: outcome.timeRatio,
    });
  }
}
