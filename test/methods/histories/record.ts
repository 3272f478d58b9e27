/** Histories of a crowd, judged: by our checker, and by porcupine where it is at hand. */
import { type Course, Crowd, type CrowdOptions, type Fault, type Recorded } from './crowd.ts';
import { checkLinearizability, type Linearizability } from './linearizability.ts';
import type { CounterInput, CounterOutput, LockInput, LockOutput } from './models.ts';
import { counterModel, lockModel } from './models.ts';
import type { Porcupine, Verdict } from './porcupine.ts';

export interface Judged {
  readonly lock: Linearizability<LockInput, LockOutput>;
  readonly counter: Linearizability<CounterInput, CounterOutput>;
  readonly porcupine?: { readonly lock: Verdict; readonly counter: Verdict } | undefined;
  readonly operations: number;
  /** Operations whose outcome the logs do not tell. */
  readonly unknown: number;
  /** Tries that were refused because somebody held. */
  readonly refused: number;
  /** What the fence refused. */
  readonly stale: number;
  readonly faults: readonly Fault[];
  /** How long the slower checker took. */
  readonly checkMs: number;
}

/** One history of a crowd of its own. */
export async function record(options: CrowdOptions & Course): Promise<Judged> {
  const crowd = await Crowd.start(options);
  try {
    return await judge(await crowd.record(options));
  } finally {
    await crowd.close();
  }
}

export async function judge(recorded: Recorded, porcupine?: Porcupine): Promise<Judged> {
  const { history, faults } = recorded;
  const others = porcupine?.judge(history);
  const start = performance.now();
  const lock = checkLinearizability(lockModel, history.lock);
  const counter = checkLinearizability(counterModel, history.counter);
  const ms = performance.now() - start;
  const theirs = await others;
  const all = [...history.lock, ...history.counter];
  const count = (fits: (each: (typeof all)[number]) => boolean): number => all.filter(fits).length;
  return {
    ...{ lock, counter, porcupine: theirs, faults, operations: all.length },
    checkMs: Math.max(ms, theirs ? theirs.lock.ms + theirs.counter.ms : 0),
    unknown: count(({ returnedAt }) => returnedAt === undefined),
    refused: count(({ output }) => output === false),
    stale: count(({ output }) => output === 'stale'),
  };
}
