/**
 * One timer for many time limits.
 *
 * Nearly all requests end long before their limit, so a timer for each would cost more than most
 * other steps of a request. One timer serves all limits: it runs until the first of those is due
 * that were open when it was set, whatever has ended since. Then it takes out what is late, and is
 * set anew for the rest.
 * What would break it: judging before the input that has arrived is read, which may end a limit.
 */
import type { Answer } from './answer.ts';
import type { Clock, Timer } from './clock.ts';
import { afterInput, detached } from './event-loop.ts';

export interface TimeLimit {
  readonly dueAt: number;
  late(): void;
}

export class SharedTimer {
  readonly #clock: Clock;
  readonly #keepsAlive: boolean;
  readonly #open = new Set<TimeLimit>();
  #armed: { readonly timer: Timer; readonly at: number } | undefined;

  /** `keepsAlive`: the process lives on while a limit is open. */
  constructor(clock: Clock, keepsAlive = false) {
    this.#clock = clock;
    this.#keepsAlive = keepsAlive;
  }

  /** The same answer; calls `late` once the clock reads `dueAt`, unless it is settled by then. */
  limit<T>(answer: Answer<T>, dueAt: number, late: () => void): Answer<T> {
    const limit = this.add(dueAt, late);
    return answer.always(() => this.delete(limit));
  }

  /** Calls `late` once the clock reads `dueAt`, unless it is deleted by then. Infinite: never. */
  add(dueAt: number, late: () => void): TimeLimit {
    const limit = { dueAt, late };
    this.open(limit);
    return limit;
  }

  /** The same for a limit that its caller has made. */
  open(limit: TimeLimit): void {
    this.#open.add(limit);
    if (limit.dueAt < (this.#armed?.at ?? Number.POSITIVE_INFINITY)) this.#arm(limit.dueAt);
    else if (this.#keepsAlive) this.#armed?.timer.ref();
  }

  delete(limit: TimeLimit): void {
    this.#open.delete(limit);
    if (this.#open.size === 0) this.#armed?.timer.unref();
  }

  /** Leaves no timer behind, unless a limit is open. */
  close(): void {
    if (!this.#armed || this.#open.size > 0) return;
    this.#clock.clearTimeout(this.#armed.timer);
    this.#armed = undefined;
  }

  #arm(at: number): void {
    const clock = this.#clock;
    if (this.#armed) clock.clearTimeout(this.#armed.timer);
    const ms = Math.max(0, at - clock.now());
    const timer = detached(() => clock.setTimeout(() => afterInput(this.#look, clock), ms));
    if (!this.#keepsAlive) timer.unref();
    this.#armed = { timer, at };
  }

  readonly #look = (): void => {
    this.#armed = undefined;
    const now = this.#clock.now();
    const late = [...this.#open].filter(({ dueAt }) => dueAt <= now);
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#open) if (dueAt > now) next = Math.min(next, dueAt);
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
    // One that is late may end another.
    for (const limit of late) if (this.#open.delete(limit)) limit.late();
  };
}
