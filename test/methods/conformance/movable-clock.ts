/**
 * Real time that a test can move on at once: for stores that count lives on a clock of this process
 * although their server has one of its own. What was to happen meanwhile happens right after.
 */
import { type Clock, systemClock, type Timer } from '../../../src/base/clock.ts';

export interface MovableClock extends Clock {
  move(ms: number): void;
}

interface Pending extends Timer {
  readonly at: number;
  readonly run: () => void;
  /** What fires it in real time. */
  timer?: Timer;
}

export function movableClock(): MovableClock {
  const real = systemClock();
  const pending = new Set<Pending>();
  let ahead = 0;

  function arm(each: Pending): void {
    if (each.timer) real.clearTimeout(each.timer);
    const fire = (): void => {
      pending.delete(each);
      each.run();
    };
    each.timer = real.setTimeout(fire, Math.max(0, each.at - clock.now()));
  }

  const clock: MovableClock = {
    ...real,
    now: () => real.now() + ahead,
    setTimeout(run, ms) {
      const each: Pending = { at: clock.now() + ms, run, ref: () => each, unref: () => each };
      pending.add(each);
      arm(each);
      return each;
    },
    clearTimeout(timer) {
      const { timer: armed } = (timer ?? {}) as Partial<Pending>;
      if (armed) real.clearTimeout(armed);
      pending.delete(timer as Pending);
    },
    move(ms) {
      ahead += ms;
      for (const each of pending) arm(each);
    },
  };
  return clock;
}
