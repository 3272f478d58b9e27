import { AsyncResource } from 'node:async_hooks';
import type { Clock, Timer } from 'holdfast';

interface Pending extends Timer {
  readonly at: number;
  readonly run: () => void;
  keepsAlive: boolean;
}

/**
 * A clock that only the test moves. Timers and immediates that are due run in order, and whatever
 * they set in motion comes to rest before the next one runs. Only for code that does nothing real:
 * a turn of the real event loop is how microtasks are flushed, and nothing else happens in it.
 * As with real ones, what runs later does so in the asynchronous context in which it was arranged.
 */
export class FakeClock implements Clock {
  /** Chance stands still unless the test says otherwise. */
  random: () => number = () => 0.5;
  readonly #pending = new Set<Pending>();
  readonly #jumpListeners = new Set<(at: number) => void>();
  #immediates: (() => void)[] = [];
  #now = 1_000;
  #jumped = false;

  /** Timers that have neither fired nor been cleared. */
  get timers(): number {
    return this.#pending.size;
  }

  /** Those of them that would keep the process alive. */
  get keepingAlive(): number {
    return [...this.#pending].filter((timer) => timer.keepsAlive).length;
  }

  readonly now = (): number => {
    if (this.#jumped) {
      this.#jumped = false;
      for (const jumped of this.#jumpListeners) jumped(this.#now);
    }
    return this.#now;
  };

  onJump(jumped: (at: number) => void): () => void {
    this.#jumpListeners.add(jumped);
    return () => void this.#jumpListeners.delete(jumped);
  }

  setTimeout(run: () => void, ms: number): Timer {
    const timer: Pending = {
      at: this.#now + Math.max(0, ms),
      run: AsyncResource.bind(run),
      keepsAlive: true,
      ref: () => (timer.keepsAlive = true),
      unref: () => (timer.keepsAlive = false),
    };
    this.#pending.add(timer);
    return timer;
  }

  clearTimeout(timer: Timer): void {
    this.#pending.delete(timer as Pending);
  }

  setImmediate(run: () => void): void {
    this.#immediates.push(AsyncResource.bind(run));
  }

  /** Time passes, and nothing runs: a blocked loop, a stopped process. */
  stall(ms: number): void {
    this.#now += ms;
  }

  /** It may have stood still until now, as its next reading says. */
  jump(): void {
    this.#jumped = true;
  }

  /** Lets everything run that is due now. */
  rest(): Promise<void> {
    return this.advance(0);
  }

  /** Lets time pass, and everything run that becomes due on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await flush();
      const next = this.#earliest();
      const due = next !== undefined && next.at <= this.#now;
      if (!due && this.#immediates.length > 0) {
        for (const run of this.#immediates.splice(0)) {
          run();
          await flush();
        }
        continue;
      }
      if (!next || next.at > Math.max(end, this.#now)) break;
      this.#pending.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = Math.max(this.#now, end);
  }

  #earliest(): Pending | undefined {
    let first: Pending | undefined;
    for (const timer of this.#pending) if (!first || timer.at < first.at) first = timer;
    return first;
  }
}

/** A clock's methods, to be mixed with others. */
export function partsOf(clock: FakeClock): Clock {
  return {
    now: clock.now,
    random: clock.random,
    setTimeout: (run, ms) => clock.setTimeout(run, ms),
    clearTimeout: (timer) => clock.clearTimeout(timer),
    setImmediate: (run) => clock.setImmediate(run),
  };
}

/** Runs all microtasks, and those that they bring. */
export function flush(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
