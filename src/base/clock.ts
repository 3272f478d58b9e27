/**
 * The clock that all deadlines are read from.
 *
 * Invariant: `now()` never runs slower than the time in which a server counts a TTL down, so that a
 * lease judged alive here cannot have ended there. `performance.now()` alone is not enough: on
 * Linux it stands still while the machine is suspended. The boot-time clock (`os.uptime()`) does
 * not, but costs 4 us and has steps of 10 ms, or on other systems of 1 s. So the wall clock, which
 * jumps on resume, serves as a cheap trigger: whenever it moves against the monotonic clock,
 * `now()` reads the boot-time clock and adds its gain, and as much as its steps may hide. The wall
 * clock decides nothing: stepping it only costs one more look. But where it ran ahead and boot time
 * did not, a virtual machine may have been stopped together with its clocks. Nothing in it can tell
 * that from a wall clock that was set, so the clock reports a doubt, and leases ask their store.
 * In Cloudflare's workerd both are the wall clock, which stands still between inputs and outputs.
 * So a start is read early, which is safe, and `held` is late by the time since the last of them.
 * What would break it: a resume that leaves wall clock and boot time behind until user code runs.
 */
import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';
import { onAbort } from './aborts.ts';
import { UsageError } from './errors.ts';

export interface Timer {
  ref(): unknown;
  unref(): unknown;
}

/** Time and randomness, injected so that tests control them. All in ms. */
export interface Clock {
  now(): number;
  random(): number;
  setTimeout(run: () => void, ms: number): Timer;
  clearTimeout(timer: Timer): void;
  /** Runs after pending input and output. */
  setImmediate(run: () => void): void;
  /**
   * May be left out. Calls `jumped` from within `now()`, with what that returns, when this clock
   * may have stood still: leases are then `unconfirmed` until the store has been asked. Returns the
   * way to stop.
   */
  onJump?(jumped: (at: number) => void): () => void;
}

const PARTS = ['now', 'random', 'setTimeout', 'clearTimeout', 'setImmediate'] as const;

/** The given clock; default that of the system. @throws UsageError unless it has all parts. */
export function checkClock(clock: Clock = systemClock()): Clock {
  const { onJump } = clock ?? {};
  const whole = PARTS.every((part) => typeof clock?.[part] === 'function');
  if (whole && (onJump === undefined || typeof onJump === 'function')) return clock;
  throw new UsageError('clock must be a Clock, such as systemClock() returns.');
}

/** Where the readings come from; tests pass their own. */
export interface TimeSources {
  monotonicMs(): number;
  wallMs(): number;
  bootMs(): number;
}

type Timers = 'setTimeout' | 'clearTimeout' | 'setImmediate' | 'queueMicrotask';

/**
 * As they are when this loads: a test's fake timers would stop every lock, and so the test. Those
 * of the module, because global ones in workerd may return numbers, and refuse any other `this`.
 */
const { Date: WallClock } = globalThis;
export const timers: Pick<typeof globalThis, Timers> = {
  setTimeout,
  clearTimeout,
  setImmediate,
  queueMicrotask: queueMicrotask.bind(globalThis),
};
const monotonicMs = performance.now.bind(performance);

const MACHINE: TimeSources = {
  monotonicMs,
  wallMs: () => WallClock.now(),
  bootMs: () => uptime() * 1000,
};

/** Drift between wall and monotonic clock, in ms, that makes us look at the boot-time clock. */
const SUSPECT_MS = 20;

/** Boot time counts in steps of 10 ms, so less than this, in ms, is no suspend and no jump. */
const SUSPEND_MS = 50;

/** Where boot time counts whole seconds, a reading is behind by less than this, in ms. */
const COARSE_MS = 1000;

/**
 * The default clock of locks: it cannot be set, and counts the time asleep.
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
  let blurMs = COARSE_MS;
  const listeners = new Set<(at: number) => void>();

  function look(monotonic: number, wall: number): void {
    const boot = sources.bootMs();
    const passed = monotonic - monotonicAt;
    // This boot clock has steps of less than a second.
    if (bootAt % COARSE_MS !== 0 || boot % COARSE_MS !== 0) blurMs = 0;
    const gained = boot - bootAt - passed;
    // Both readings may hide this much; setting the clock moves the whole seconds of some systems.
    const isSuspend = gained > SUSPEND_MS + 2 * blurMs;
    const counted = isSuspend ? gained + blurMs : 0;
    suspended += counted;
    const ahead = wall - wallAt - passed - counted;
    monotonicAt = monotonic;
    wallAt = wall;
    bootAt = boot;
    if (ahead > SUSPEND_MS) for (const jumped of listeners) jumped(monotonic + suspended);
  }

  return {
    now() {
      const monotonic = sources.monotonicMs();
      const wall = sources.wallMs();
      if (Math.abs(wall - wallAt - (monotonic - monotonicAt)) > SUSPECT_MS) look(monotonic, wall);
      return monotonic + suspended;
    },
    random: Math.random,
    setTimeout: (run, ms) => timers.setTimeout(run, ms),
    clearTimeout: (timer) => timers.clearTimeout(timer as NodeJS.Timeout),
    setImmediate: (run) => void timers.setImmediate(run),
    onJump(jumped) {
      listeners.add(jumped);
      return () => void listeners.delete(jumped);
    },
  };
}

/** Resolves early, without an error, when the signal aborts. `idle`: it keeps no process alive. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal, idle = false): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clock.clearTimeout(timer);
      forget?.();
      resolve();
    };
    const timer = clock.setTimeout(wake, signal?.aborted ? 0 : ms);
    if (idle) timer.unref();
    const forget = signal && onAbort(signal, wake);
  });
}

/** At most one timer: setting it again clears the one before. */
export class OneTimer {
  readonly #clock: Clock;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(run: () => void, ms: number): void {
    this.clear();
    this.#timer = this.#clock.setTimeout(run, Math.max(0, Math.ceil(ms)));
  }

  clear(): void {
    if (this.#timer) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  unref(): void {
    this.#timer?.unref();
  }
}
