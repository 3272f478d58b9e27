import type { Clock } from '../base/clock.ts';
import type { EventLoop } from '../base/event-loop.ts';
import { toStoreError } from '../contract/errors.ts';
import type { ClaimStatus, Store } from '../contract/store.ts';
import { type BatcherParts, type BatchOutcome, type Sender, senderOf } from './batcher.ts';
import { Releases, Underway } from './release.ts';
import { checkBoolean, checkStatus } from './replies.ts';
import { TimeLimits, TRIES_PER_TTL } from './time-limit.ts';

export interface StoreCallsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly loop: EventLoop;
  /** The TTL for questions about no claim, in ms: each waits a third of it for a reply. */
  readonly ttlMs: number;
  /** Called after each batch of heartbeats. */
  readonly renewed: (outcome: BatchOutcome<ClaimStatus>) => void;
}

/** One `Locks`'s calls: claims in batches by verb, questions one by one, all with a time limit. */
export class StoreCalls {
  readonly store: Store;
  readonly claim: Sender<ClaimStatus>;
  readonly renew: Sender<ClaimStatus>;
  readonly releases: Releases;
  /** Releases that wait for a reply, and what core keeps open. */
  readonly underway: Underway = new Underway();
  readonly #parts: StoreCallsParts;
  readonly #limits: TimeLimits;

  constructor(parts: StoreCallsParts) {
    const { store, clock, renewed } = parts;
    this.store = store;
    this.#parts = parts;
    this.#limits = new TimeLimits(store, clock);
    this.claim = this.#sender((claims) => store.claim(claims), checkStatus);
    this.renew = this.#sender((claims) => store.renew(claims), checkStatus, renewed);
    const now = this.#sender((claims) => store.release(claims), checkBoolean);
    const later = (ms: number): Sender<boolean> =>
      this.#sender((claims) => store.release(claims, { ms }), checkBoolean);
    this.releases = new Releases((ms) => (ms <= 0 ? now : later(ms)), clock, this.underway);
  }

  /**
   * The store's reply to a question that goes into no batch.
   * @param about the claim that it is about; default none.
   * @throws StoreError
   */
  async ask<T>(
    question: () => Promise<T>,
    check: (reply: T) => T,
    about: { readonly ttlMs: number } = this.#parts,
  ): Promise<T> {
    const limitMs = about.ttlMs / TRIES_PER_TTL;
    try {
      return check(await this.#limits.answer(question, limitMs));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  #sender<R>(
    verb: BatcherParts<R>['verb'],
    check: BatcherParts<R>['check'],
    done?: BatcherParts<R>['done'],
  ): Sender<R> {
    const { store, clock, loop } = this.#parts;
    return senderOf({ store, verb, check, done, clock, loop, limits: this.#limits });
  }

  /** Sends no more releases: the store is about to close. */
  close(): void {
    this.releases.close();
    this.#limits.close();
  }
}
