import { Answer } from '../base/answer.ts';
import type { Clock } from '../base/clock.ts';
import type { EventLoop } from '../base/event-loop.ts';
import { withJson } from '../base/show.ts';
import { UnsupportedError } from '../contract/errors.ts';
import type { ClaimStatus, Member, OptionalVerb, Queue, Store } from '../contract/store.ts';
import { tokenOf } from '../contract/token.ts';
import { type BatcherParts, type BatchOutcome, type Sender, senderOf } from './batcher.ts';
import { Releases } from './release.ts';
import { checkBoolean, checkQueue, checkStatus } from './replies.ts';
import { TimeLimits, TRIES_PER_TTL } from './time-limit.ts';

/** How long a failed wait asks who holds, in ms: the answer is a courtesy. */
const LAST_LOOK_MS = 250;

export interface StoreCallsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly loop: EventLoop;
  /** The TTL for questions about no claim, in ms: each waits a third of it for a reply. */
  readonly ttlMs: number;
  readonly renewed: (outcome: BatchOutcome<ClaimStatus>) => void;
}

/** One `Locks`'s calls: claims in batches by verb, questions one by one, all with a time limit. */
export class StoreCalls {
  readonly store: Store;
  readonly claim: Sender<ClaimStatus>;
  readonly renew: Sender<ClaimStatus>;
  readonly releases: Releases;
  readonly limits: TimeLimits;
  readonly #parts: Pick<BatcherParts<unknown>, 'store' | 'clock' | 'loop' | 'limits'>;
  readonly #ttlMs: number;
  readonly #looks = new Map<string, Promise<Queue | undefined>>();

  constructor({ store, clock, loop, ttlMs, renewed }: StoreCallsParts) {
    this.store = store;
    this.#ttlMs = ttlMs;
    this.limits = new TimeLimits(store, clock);
    this.#parts = { store, clock, loop, limits: this.limits };
    this.claim = this.sender((claims) => store.claim(claims), checkStatus);
    this.renew = this.sender((claims) => store.renew(claims), checkStatus, { done: renewed });
    const terms = { portion: store.portion, final: true };
    const now = this.sender((claims) => store.release(claims), checkBoolean, terms);
    const later = (ms: number): Sender<boolean> =>
      this.sender((claims) => store.release(claims, { ms }), checkBoolean, terms);
    this.releases = new Releases((ms) => (ms <= 0 ? now : later(ms)), clock);
  }

  /** Sends the claims of one verb, in batches. */
  sender<R>(
    verb: BatcherParts<R>['verb'],
    check: BatcherParts<R>['check'],
    more: Pick<BatcherParts<R>, 'done' | 'portion' | 'final'> = { portion: this.store.portion },
  ): Sender<R> {
    return senderOf({ ...this.#parts, verb, check, ...more });
  }

  /**
   * The store's reply to a question that goes into no batch.
   * @param about the claim that it is about; default none.
   * @throws StoreError
   */
  ask<T>(
    question: () => Promise<T>,
    check: (reply: T) => T,
    about: { readonly ttlMs: number } = { ttlMs: this.#ttlMs },
  ): Promise<T> {
    const checked = (): Answer<T> => Answer.of<T>(question).map(check);
    return this.limits.ask<T>(checked, about.ttlMs / TRIES_PER_TTL);
  }

  /**
   * A verb that the store may lack.
   * @throws UnsupportedError
   */
  verb<V extends OptionalVerb>(verb: V): NonNullable<Store[V]> {
    const { store } = this;
    const found = store[verb];
    if (!found) throw new UnsupportedError(verb, `The ${store.name} store cannot ${verb}.`);
    return found.bind(store) as NonNullable<Store[V]>;
  }

  /**
   * The queue, holders first, with numbers as the tokens of leases.
   * @throws StoreError
   */
  async inspect(resource: string, about?: { readonly ttlMs: number }): Promise<Queue> {
    const queue = await this.ask(() => this.store.inspect(resource), checkQueue, about);
    const scale = (member: Member): Member =>
      withJson({ ...member, number: tokenOf(member.number) });
    return { ...queue, holders: queue.holders.map(scale), waiters: queue.waiters.map(scale) };
  }

  /** As `inspect`; undefined if the store does not reply soon. Never rejects. */
  inspectSoon(resource: string): Promise<Queue | undefined> {
    let look = this.#looks.get(resource);
    if (!look) {
      look = this.inspect(resource, { ttlMs: LAST_LOOK_MS * TRIES_PER_TTL })
        .catch(() => undefined)
        .finally(() => this.#looks.delete(resource));
      this.#looks.set(resource, look);
    }
    return look;
  }

  /** Sends no more releases: the store is about to close. */
  close(): void {
    this.releases.closed = true;
    this.limits.timer.close();
  }
}
