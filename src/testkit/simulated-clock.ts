/**
 * A clock whose time passes only when nothing else happens, so that a case that waits for minutes
 * ends in milliseconds and always takes the same course.
 *
 * Invariant: the next timer fires only after the event loop has turned without a pending immediate,
 * so all work that the timer before it started has come to rest. It holds for code that uses only
 * this clock, microtasks and immediates. What would break it: real input or output, which takes
 * real time.
 */
import type { Clock, Timer } from '../base/clock.ts';
import { type Duration, parseDuration } from '../base/duration.ts';

/** Time and randomness for stores that live in this process. */
export interface SimulatedClock extends Clock {
  /** Resolves when that much time has passed: for work that lasts. */
  sleep(duration: Duration): Promise<void>;
  /** Stops time; pending timers never fire. */
  stop(): void;
}

interface Pending extends Timer {
  readonly at: number;
  readonly run: () => void;
}

/**
 * @param seed chooses the course of `random()`.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { memoryStore } from 'holdfast/memory';
 * import { simulatedClock } from 'holdfast/testkit';
 *
 * const clock = simulatedClock();
 * const locks = createLocks(memoryStore({ clock }), { clock });
 * await locks.mutex('report').run(() => clock.sleep('1h')); // in a few milliseconds
 *
 * @experimental
 */
export function simulatedClock(seed = 1): SimulatedClock {
  const pending = new Set<Pending>();
  let now = 1_000;
  let state = seed;
  let immediates = 0;
  let passing = false;
  let stopped = false;

  async function pass(): Promise<void> {
    passing = true;
    while (pending.size > 0 && !stopped) {
      await turn();
      while (immediates > 0) await turn();
      await turn();
      const next = earliest(pending);
      if (!next || stopped) continue;
      pending.delete(next);
      now = Math.max(now, next.at);
      next.run();
    }
    passing = false;
  }

  const clock: SimulatedClock = {
    now: () => now,
    sleep: (duration) =>
      new Promise((resolve) => {
        clock.setTimeout(resolve, parseDuration(duration));
      }),
    random() {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    },
    setTimeout(run, ms) {
      const timer: Pending = {
        at: now + Math.max(0, ms),
        run,
        ref: () => timer,
        unref: () => timer,
      };
      pending.add(timer);
      if (!passing) void pass();
      return timer;
    },
    clearTimeout: (timer) => void pending.delete(timer as Pending),
    setImmediate(run) {
      immediates++;
      setImmediate(() => {
        immediates--;
        run();
      });
    },
    stop() {
      stopped = true;
    },
  };
  return clock;
}

/** The timer that fires first; the oldest of equals. */
function earliest(pending: Iterable<Pending>): Pending | undefined {
  let first: Pending | undefined;
  for (const timer of pending) if (!first || timer.at < first.at) first = timer;
  return first;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
