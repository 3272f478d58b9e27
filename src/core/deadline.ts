/**
 * Until when the store's word holds.
 *
 * Invariant: before `deadline` on our clock, the claim has not ended on the store's. The store
 * counted `leftMs` from some moment after the request was sent, so counting it from before sending
 * is early; subtracting drift covers clocks of different rates, and a margin covers rounding and
 * timers. Only a confirmed request moves the deadline, with its own time of sending: a reply that
 * overtook a newer one changes nothing, and no reply changes nothing. Where our clock may have
 * stood still together with the machine, what was confirmed before is in doubt, and a reply to what
 * was sent before confirms nothing: nothing begins on it until the store has been asked again.
 * What would break it: counting from the reply, or counting the ttl that was asked for.
 * One per cent of drift is what Redlock allows (redis.io, "Distributed Locks"); the margin is ours.
 */
import type { Core } from './engine.ts';

/** Share of the TTL that must be left for a grant or a hand-off to be worth anything. */
const MIN_VALIDITY = 0.1;

export class Validity {
  deadline: number = Number.NEGATIVE_INFINITY;
  /** When the last confirmed request was sent, or when we began to ask. */
  confirmedAt: number;
  /** A later request brought no answer. */
  unanswered = false;
  readonly #ttlMs: number;
  readonly #core: Pick<Core, 'options' | 'jumpedAt'>;

  constructor(core: Pick<Core, 'options' | 'jumpedAt'>, ttlMs: number, now: number) {
    this.#core = core;
    this.#ttlMs = ttlMs;
    this.confirmedAt = now;
  }

  confirm(leftMs: number, sentAt: number): void {
    const { options, jumpedAt } = this.#core;
    if (sentAt < this.confirmedAt || sentAt < jumpedAt) return;
    const { driftRate, marginMs } = options;
    this.confirmedAt = sentAt;
    this.unanswered = false;
    this.deadline = sentAt + leftMs * (1 - driftRate) - marginMs;
  }

  /** What was confirmed last may be wrong by now. */
  get unconfirmed(): boolean {
    return this.unanswered || this.#isStale();
  }

  /** It was confirmed before our clock may have stood still. */
  #isStale(): boolean {
    return this.confirmedAt < this.#core.jumpedAt;
  }

  /** Enough is left to begin something. */
  fresh(now: number): boolean {
    return !this.#isStale() && now < this.deadline - this.#ttlMs * MIN_VALIDITY;
  }

  /** The store confirmed a life of nearly the whole TTL. */
  isFull(leftMs: number): boolean {
    return leftMs >= this.#ttlMs * (1 - MIN_VALIDITY);
  }

  /** Nothing was confirmed for a whole life: whatever the store had is gone. */
  hopeless(now: number): boolean {
    return now - this.confirmedAt >= this.#ttlMs;
  }
}
