/**
 * 1,000 tasks of one process on one mutex. Not fair, the lease passes from task to task without
 * a trip to the store; fair, every task has a claim of its own there. The floor is the least that
 * a queue of promises with lease objects can do in JavaScript.
 */
import { performance } from 'node:perf_hooks';
import { createLocks, type Lock, type Locks } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { type Candidate, compare, type Round } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { schemeOf } from '../stores/index.ts';

const ROUNDS = 5;
const TASKS = 1_000;
const GOAL = 1_000_000;

/** One of the tasks: takes and passes on as long as there is `more`, and says whose turn it is. */
type Task = (more: () => boolean, turn: () => void) => Promise<void>;

/** Hand-offs a round: enough to last about half a second each. */
const PASSED_ON = 500_000;
const FAIR = 4_000;

export async function measure(places: readonly Place[]): Promise<void> {
  const all = new Map<string, Locks>();
  for (const { url } of places) all.set(schemeOf(url), createLocks(await openStore(url)));
  await compared(all, 'acquire + release', (lock) => async (more, turn) => {
    while (more()) {
      const lease = await lock.acquire();
      turn();
      await lease.release();
    }
  });
  // The first `run` of a process lets it follow asynchronous contexts, which slows every promise
  // down from then on, also those of the floor. So this comes last.
  await compared(all, 'run', (lock) => async (more, turn) => {
    while (more()) await lock.run(turn);
  });
  for (const locks of all.values()) await locks.close();
}

async function compared(
  all: ReadonlyMap<string, Locks>,
  way: 'acquire + release' | 'run',
  task: (lock: Lock) => Task,
): Promise<void> {
  const floor = `floor: queue of promises, lease objects, beside ${way}`;
  const ours = Array.from(all, ([store, locks]) =>
    [false, true].map((fair): Candidate => {
      const lock = locks.mutex(fair ? 'fair' : 'not fair', { fair });
      const handOffs = fair ? FAIR : PASSED_ON;
      const name = `${store}, ${fair ? 'fair' : 'not fair'}, ${way}`;
      return { name, round: () => round(task(lock), handOffs) };
    }),
  );
  const candidates = [{ name: floor, round: () => round(bareQueue(), PASSED_ON) }, ...ours.flat()];
  await compare('hand-offs/s', candidates, ROUNDS, ({ name, perSecond }) => {
    const hasGoal = way !== 'run' && name.includes('not fair');
    return hasGoal ? { goal: '≥ 1,000,000/s', met: perSecond >= GOAL } : {};
  });
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

function bareQueue(): Task {
  const waiting: ((lease: BareLease) => void)[] = [];
  let [held, token, first] = [false, 0, 0];
  const lease = (): BareLease => ({ token: ++token, since: performance.now(), release });
  const release = (): void => {
    const next = waiting[first];
    held = next !== undefined;
    if (!next) return;
    first++;
    next(lease());
  };
  const acquire = (): Promise<BareLease> =>
    new Promise((resolve) => {
      if (held) waiting.push(resolve);
      else {
        held = true;
        resolve(lease());
      }
    });
  return async (more, turn) => {
    while (more()) {
      const own = await acquire();
      turn();
      own.release();
    }
  };
}
