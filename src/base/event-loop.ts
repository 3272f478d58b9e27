/**
 * What work in the background owes to the rest of the process: no caller's context (`detached`),
 * turns for others (`EventLoop`), and input before judgement (`afterInput`). `KeepAlive` keeps the
 * process itself.
 *
 * Shared background work must not keep the asynchronous context of the caller that started it. A
 * heartbeat that inherited the context of a request would keep all its data alive, and requests of
 * a traced client would appear in its trace. The first request of an acquisition stays in the
 * context of its caller.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Timer } from './clock.ts';
import { MAX_DURATION_MS } from './duration.ts';

/** Runs the work in the context that loaded this file: normally that of no request. */
export const detached: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();

/** Longest stretch in ms without a turn for timers and input. */
const STRETCH_MS = 2;

/** How often there is time to spare, in ms, and how many times at once after a pause. */
const SPARE_MS = 10;
const SPARES = 8;

/**
 * Keeps the event loop turning. Hand-offs inside the process and stores that reply at once need no
 * timer and no input, so a busy loop over them would run in microtasks for ever, and heartbeats,
 * hints from other processes and all other work would starve. Each turn of the loop arms one
 * immediate; the stretch lasts until it runs.
 */
export class EventLoop {
  readonly #clock: Clock;
  #armed = false;
  #since = 0;
  #spentUntil = Number.NEGATIVE_INFINITY;
  #parked: ((now: number) => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** For work of some 10 µs that may be skipped: true at most a hundred times a second. */
  spare(): boolean {
    // A turn is short, so the time when it began will do.
    const now = this.#armed ? this.#since : this.#clock.now();
    if (this.#spentUntil > now) return false;
    this.#spentUntil = Math.max(this.#spentUntil, now - SPARES * SPARE_MS) + SPARE_MS;
    return true;
  }

  /** Runs `go` now, or in the next turn if this one has lasted too long. */
  run(go: (now: number) => void, now: number = this.#clock.now()): void {
    if (!this.#armed) {
      this.#armed = true;
      this.#since = now;
      this.#clock.setImmediate(this.#next);
    } else if (now - this.#since > STRETCH_MS) {
      this.#parked.push(go);
      return;
    }
    go(now);
  }

  readonly #next = (): void => {
    this.#armed = false;
    const parked = this.#parked;
    if (parked.length === 0) return;
    this.#parked = [];
    detached(() => {
      for (const go of parked) this.run(go);
    });
  };
}

/**
 * Runs `judge` after everything that has arrived by now was read. Timers run before input: after
 * the process stood still, a timer would give up a request whose reply is in the socket. So each
 * timer that ends a request or a connection for want of a reply goes through this.
 */
export function afterInput(
  judge: () => void,
  clock: Pick<Clock, 'setImmediate'> = { setImmediate },
): void {
  clock.setImmediate(judge);
}

/** Keeps the process alive while anything in it waits, even without other work. */
export class KeepAlive {
  readonly #clock: Clock;
  #waiting = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(): void {
    if (this.#waiting++ > 0) return;
    if (this.#timer) this.#timer.ref();
    else this.#timer = detached(() => this.#clock.setTimeout(() => {}, MAX_DURATION_MS));
  }

  remove(): void {
    if (--this.#waiting === 0) this.#timer?.unref();
  }

  close(): void {
    if (this.#timer) this.#clock.clearTimeout(this.#timer);
  }
}
