/**
 * The clock that all deadlines are read from.
 *
 * Invariant: `now()` never runs slower than the time in which a server counts a TTL down, so that a
 * lease judged alive here cannot have ended there. `performance.now()` alone does not do: on Linux
 * it stands still while the machine is suspended. The boot-time clock (`os.uptime()`) does not, but
 * costs 4 us and has steps of 10 ms. So the wall clock, which jumps on resume, serves as a cheap
 * trigger: whenever it moves against the monotonic clock, the boot-time clock is asked, and
 * what it gained is added. The wall clock decides nothing: stepping it only costs one more look.
 * What would break it: a resume that leaves wall clock and boot time behind until user code ran.
 */
import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import { UsageError } from './errors.ts';
import { reading } from './read-options.ts';

export interface Timer {
  ref(): unknown;
  unref(): unknown;
}

/** Time and chance, injected so that tests can own them. All in ms. */
export interface Clock {
  now(): number;
  random(): number;
  setTimeout(run: () => void, ms: number): Timer;
  clearTimeout(timer: Timer): void;
  /** Runs after pending input and output had a turn. */
  setImmediate(run: () => void): void;
}

const PARTS = ['now', 'random', 'setTimeout', 'clearTimeout', 'setImmediate'] as const;

/** @throws UsageError unless it has all parts of a clock. */
export function checkClock(clock: Clock): void {
  const whole = reading('The clock', () =>
    PARTS.every((part) => typeof clock?.[part] === 'function'),
  );
  if (!whole) throw new UsageError('clock must be a Clock, as systemClock() gives.');
}

/** Where the readings come from; tests pass their own. */
export interface TimeSources {
  monotonicMs(): number;
  wallMs(): number;
  bootMs(): number;
}

const MACHINE: TimeSources = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  bootMs: () => uptime() * 1000,
};

/** Drift between wall and monotonic clock, in ms, that makes us look at the boot-time clock. */
const SUSPECT_MS = 20;

/** Boot time counts in steps of 10 ms, so less than this, in ms, is no suspend. */
const SUSPEND_MS = 50;

/**
 * The clock that locks have if they are given none: it cannot be set, and counts the time asleep.
 *
 * @example
 * import { systemClock } from 'holdfast';
 *
 * const clock = systemClock();
 * const since = clock.now();
 * await step();
 * console.log(`took ${clock.now() - since} ms`);
 */
export function systemClock(sources: TimeSources = MACHINE): Clock {
  let monotonicAt = sources.monotonicMs();
  let wallAt = sources.wallMs();
  let bootAt = sources.bootMs();
  let suspended = 0;

  function look(monotonic: number, wall: number): void {
    const boot = sources.bootMs();
    const gained = boot - bootAt - (monotonic - monotonicAt);
    if (gained > SUSPEND_MS) suspended += gained;
    monotonicAt = monotonic;
    wallAt = wall;
    bootAt = boot;
  }

  return {
    now() {
      const monotonic = sources.monotonicMs();
      const wall = sources.wallMs();
      if (Math.abs(wall - wallAt - (monotonic - monotonicAt)) > SUSPECT_MS) look(monotonic, wall);
      return monotonic + suspended;
    },
    random: Math.random,
    setTimeout: (run, ms) => setTimeout(run, ms),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
    setImmediate: (run) => void setImmediate(run),
  };
}
