/**
 * 1,000 tasks of one process on one mutex. Not fair, the lease passes from task to task without
 * a trip to the store; fair, every task has a claim of its own there. The floor is the least that
 * a queue of promises with lease objects can do in JavaScript.
 */

import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createLocks, type Lock } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { sqliteStore } from 'holdfast/sqlite';
import { scratchFolder } from './processes.ts';
import { type Candidate, type Round, report, takeTurns } from './result.ts';

const FIGURE = 'local';
const ROUNDS = 5;
const TASKS = 1_000;
const GOAL = 1_000_000;

/** One of the tasks: takes and passes on as long as there is `more`, and says whose turn it is. */
type Task = (more: () => boolean, turn: () => void) => Promise<void>;

/** Hand-offs a round: enough to last about half a second each. */
const PASSED_ON = 500_000;
const FAIR = 4_000;

const stores = {
  memory: memoryStore(),
  sqlite: sqliteStore(join(scratchFolder(), 'locks.db')),
};
const locksOf = Object.entries(stores).map(([name, store]) => [name, createLocks(store)] as const);

await compare('acquire + release', GOAL, (lock) => async (more, turn) => {
  while (more()) {
    const lease = await lock.acquire();
    turn();
    await lease.release();
  }
});
// The first `run` of a process lets it follow asynchronous contexts, which slows every promise down
// from then on, also those of the floor. So this comes last.
await compare('run', undefined, (lock) => async (more, turn) => {
  while (more()) await lock.run(turn);
});
for (const [, locks] of locksOf) await locks.close();

async function compare(
  way: string,
  goal: number | undefined,
  task: (lock: Lock) => Task,
): Promise<void> {
  const floor = `floor: queue of promises, lease objects, beside ${way}`;
  const candidates: Candidate[] = [
    { name: floor, round: () => round(bareQueue(), PASSED_ON) },
    ...locksOf.flatMap(([store, locks]) =>
      [false, true].map((fair): Candidate => {
        const lock = locks.mutex(fair ? 'fair' : 'not fair', { fair });
        const handOffs = fair ? FAIR : PASSED_ON;
        return {
          name: `${store}, ${fair ? 'fair' : 'not fair'}, ${way}`,
          round: () => round(task(lock), handOffs),
        };
      }),
    ),
  ];
  for (const { name, perSecond, median, p99, rateRatio } of await takeTurns(candidates, ROUNDS)) {
    report({
      figure: FIGURE,
      what: name,
      measured: { 'hand-offs/s': perSecond, 'median µs': median, 'p99 µs': p99 },
      ratio: rateRatio,
      ...(goal !== undefined &&
        name.includes('not fair') && { goal: '≥ 1,000,000/s', met: perSecond >= goal }),
    });
  }
}

/**
 * The rate comes from a pass without clocks, the times between two holders from a second, shorter
 * one: reading the clock costs as much as a quarter of a hand-off.
 */
async function round(task: Task, handOffs: number): Promise<Round> {
  const since = performance.now();
  await crowd(task, handOffs, () => {});
  const perSecond = handOffs / ((performance.now() - since) / 1000);
  const stamps = new Float64Array(handOffs / 10);
  let n = 0;
  await crowd(task, stamps.length, () => {
    stamps[n++] = performance.now();
  });
  const micros = stamps.slice(1).map((stamp, i) => (stamp - (stamps[i] ?? 0)) * 1000);
  return { perSecond, micros };
}

async function crowd(task: Task, handOffs: number, turn: () => void): Promise<void> {
  let left = handOffs;
  const more = (): boolean => left-- > 0;
  await Promise.all(Array.from({ length: TASKS }, () => task(more, turn)));
}

interface BareLease {
  readonly token: number;
  readonly since: number;
  release(): void;
}

interface BareWaiter {
  readonly resolve: (lease: BareLease) => void;
  next: BareWaiter | undefined;
}

function bareQueue(): Task {
  let held = false;
  let token = 0;
  let first: BareWaiter | undefined;
  let last: BareWaiter | undefined;
  const grant = (waiter: BareWaiter): void => {
    waiter.resolve({ token: ++token, since: performance.now(), release });
  };
  const release = (): void => {
    const waiter = first;
    held = waiter !== undefined;
    if (!waiter) return;
    first = waiter.next;
    if (!first) last = undefined;
    grant(waiter);
  };
  const acquire = (): Promise<BareLease> =>
    new Promise((resolve) => {
      const waiter: BareWaiter = { resolve, next: undefined };
      if (!held) {
        held = true;
        grant(waiter);
        return;
      }
      if (last) last.next = waiter;
      else first = waiter;
      last = waiter;
    });
  return async (more, turn) => {
    while (more()) {
      const lease = await acquire();
      turn();
      lease.release();
    }
  };
}
