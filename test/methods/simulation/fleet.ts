/** Many worlds on all cores: processes that are given seeds, and the sum of what they saw. */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

export type Chunk = { readonly from: number; readonly count: number };

export type Failure = { readonly seed: number; readonly problems: readonly string[] };

/** What came of a chunk, or of all. */
export interface Sum {
  runs: number;
  steps: number;
  /** Worlds that were run once more, alone, and took the same course. */
  repeated: number;
  counts: Record<string, number>;
  failures: Failure[];
}

export const NOTHING = (): Sum => ({ runs: 0, steps: 0, repeated: 0, counts: {}, failures: [] });

export interface FleetOptions {
  readonly runs: number;
  readonly seed: number;
  /** Told of the sum so far. */
  readonly progress?: (sum: Sum) => void;
}

/** Small enough that a failure is known soon. */
const CHUNK = 250;

/** So many of the last objects fit into the nursery of the heap, in MiB: most die in it. */
const NURSERY_MB = 32;

/** Runs the seeds, and no new ones once one has failed. */
export async function runFleet({ runs, seed, progress }: FleetOptions): Promise<Sum> {
  const sum = NOTHING();
  const end = seed + runs;
  let next = seed;
  const work = async (): Promise<void> => {
    const worker = new Worker();
    while (next < end && sum.failures.length === 0) {
      const chunk = { from: next, count: Math.min(CHUNK, end - next) };
      next += chunk.count;
      add(sum, await worker.run(chunk));
      progress?.(sum);
    }
    worker.stop();
  };
  const workers = Math.min(availableParallelism(), Math.ceil(runs / CHUNK));
  await Promise.all(Array.from({ length: workers }, work));
  sum.failures.sort((a, b) => a.seed - b.seed);
  return sum;
}

class Worker {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
    execArgv: [...process.execArgv, `--max-semi-space-size=${NURSERY_MB}`],
  });

  run(chunk: Chunk): Promise<Sum> {
    return new Promise((resolve, reject) => {
      const died = (code: number | null): void => reject(new Error(`A worker ended with ${code}.`));
      this.#child.once('exit', died);
      this.#child.once('message', (sum) => {
        this.#child.removeListener('exit', died);
        resolve(sum as Sum);
      });
      this.#child.send(chunk);
    });
  }

  stop(): void {
    this.#child.disconnect();
  }
}

function add(sum: Sum, part: Sum): void {
  sum.runs += part.runs;
  sum.steps += part.steps;
  sum.repeated += part.repeated;
  sum.failures.push(...part.failures);
  for (const [what, times] of Object.entries(part.counts)) {
    sum.counts[what] = (sum.counts[what] ?? 0) + times;
  }
}
