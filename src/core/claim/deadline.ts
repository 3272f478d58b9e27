/**
 * The only place that decides when a hold ends, and why.
 *
 * Invariant: before `at` on our clock, the claim has not ended on the store's. The store counted
 * `leftMs` from some moment after the request was sent, so counting it from before sending is
 * early; subtracting drift covers clocks of different rates, and a margin covers rounding and
 * timers. Only a confirmed request moves the deadline, with its own time of sending: a reply that
 * overtook a newer one changes nothing, nor does a missing reply. Where our clock may have stood
 * still together with the machine, earlier confirmations are in doubt, and a reply to an earlier
 * request confirms nothing: nothing begins on it until the store has confirmed it again. A read
 * compares the clock with the deadline and calls nothing, so it is right when the loop was blocked
 * or the process stopped. It keeps a loss that it finds, because a loss that was seen is final.
 * A hold with a shortest time (`minHold`) begins only when its claim is sure to stay for that long
 * (`lasts`), and no release ends it earlier: so it stays, whatever becomes of this process. Hence
 * no more holds of a semaphore begin in any `minHold` than its limit: the one that was admitted
 * last would have been admitted beside all the others, which stay until after it began. A hold that
 * is handed over is no longer this process's, and its next holder has a `minHold` of its own.
 * What would break it: counting from the reply, or counting the ttl that was asked for.
 * One per cent of drift is what Redlock allows (redis.io, "Distributed Locks"); the margin is ours.
 */
import type { StoreError } from '../../contract/errors.ts';
import type { Loss } from '../errors.ts';
import type { Services } from '../services.ts';

/** Share of the TTL that must be left for a grant or a hand-off. */
const MIN_VALIDITY = 0.1;

type Needs = Pick<Services, 'settings' | 'heartbeat'>;

interface Times {
  /** The claim's. */
  readonly ttlMs: number;
  /** Heartbeats come three times in this time, in ms. */
  readonly beatTtlMs: number;
}

/** What went wrong since the last confirmed request: the store may no longer have the claim. */
interface Doubt {
  /** Why the last request failed; undefined if only the clock may have stood still. */
  readonly cause: StoreError | undefined;
  readonly times: number;
  /** When it was last seen that a request failed. */
  readonly at: number;
  /** For how long requests have failed, in ms. */
  readonly forMs: number;
}

export class Deadline {
  doubt: Doubt | undefined;
  readonly #services: Needs;
  readonly #ttlMs: number;
  readonly #beatTtlMs: number;
  #until = Number.NEGATIVE_INFINITY;
  #maxHoldAt = Number.POSITIVE_INFINITY;
  /** When the last confirmed request was sent. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  /** The loss that a reader has seen. */
  #loss: Loss | undefined;

  constructor(services: Needs, { ttlMs, beatTtlMs }: Times) {
    this.#services = services;
    this.#ttlMs = ttlMs;
    this.#beatTtlMs = beatTtlMs;
  }

  /** Life left of the hold; 0 when it has ended. */
  remaining(now: number): number {
    return this.loss(now) ? 0 : this.#at - now;
  }

  /** Why the hold has ended; undefined while it has not. */
  loss(now: number): Loss | undefined {
    if (!this.#loss && now >= this.#at) {
      const stalled = this.#services.heartbeat.stalled(this.#beatTtlMs, now);
      const expired: Loss = { reason: 'expired', cause: this.doubt?.cause };
      const over: Loss = stalled ? { reason: 'stalled' } : expired;
      this.#loss = now < this.#until ? { reason: 'max-hold' } : over;
    }
    return this.#loss;
  }

  confirm(leftMs: number, sentAt: number): void {
    const { settings, heartbeat } = this.#services;
    if (sentAt < this.#confirmedAt || sentAt < heartbeat.jumpedAt) return;
    this.#confirmedAt = sentAt;
    this.doubt = undefined;
    this.#until = sentAt + leftMs * (1 - settings.driftRate) - settings.marginMs;
  }

  /**
   * A request that was sent then failed or, without a cause, the clock may have stood still.
   * Returns how often.
   */
  fail(now: number, sentAt: number, cause: StoreError | undefined = this.doubt?.cause): number {
    const { times, at, forMs } = this.doubt ?? { times: 0, at: sentAt, forMs: 0 };
    // A request and the pause before it take less, unless this process stood still.
    const tookMs = Math.min(now - at, this.#ttlMs / 2);
    this.doubt = { cause, times: times + 1, at: now, forMs: forMs + tookMs };
    return times + 1;
  }

  /** The hold ends by this moment, whatever the store confirms. */
  limit(maxHoldAt: number): void {
    this.#maxHoldAt = maxHoldAt;
  }

  /** The last confirmation may be out of date. */
  get unconfirmed(): boolean {
    return this.doubt !== undefined || this.#isStale();
  }

  /** Enough life is left to begin something. */
  fresh(now: number): boolean {
    return !this.#loss && !this.#isStale() && now < this.#until - this.#ttlMs * MIN_VALIDITY;
  }

  /**
   * The claim stays for `ms` more, without another heartbeat. If that is more than half of its TTL,
   * a reply with nearly the whole TTL will do: of a slow store, none might ever have enough.
   */
  lasts(ms: number, leftMs: number, now: number): boolean {
    if (ms === 0 || this.#at - now >= ms) return true;
    return 2 * ms > this.#ttlMs && leftMs >= this.#ttlMs * (1 - MIN_VALIDITY);
  }

  /** Requests have failed for a whole TTL, in which this process did not stand still. */
  get hopeless(): boolean {
    return (this.doubt?.forMs ?? 0) >= this.#ttlMs;
  }

  /** The last confirmation is from before our clock may have stood still. */
  #isStale(): boolean {
    return this.#confirmedAt < this.#services.heartbeat.jumpedAt;
  }

  get #at(): number {
    return Math.min(this.#until, this.#maxHoldAt);
  }
}
