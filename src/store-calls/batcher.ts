/**
 * The way of one verb to one part of the store: requests are sent in batches.
 *
 * The first request leaves with the next microtask, and with whatever was sent in the same breath;
 * what arrives while a batch is under way is collected into the next one, so that a lone caller
 * does not wait and a crowd shares round trips. A request waits for the batch before it for a
 * tenth of its own TTL at most; then it leaves beside that batch, which is late. As an answer is
 * waited for during a third of the shortest TTL in its batch, four batches of equal TTLs are under
 * way at most when nothing is answered. An id is never in two of them: its requests keep their
 * order.
 * Claims do not share a fate: each gets its own answer, and when a batch as a whole is refused for
 * what is in it, it is halved until the culprit stands alone. A failure that may pass, or of which
 * nobody knows what it left behind, is one of the server, and all claims of a batch have the same
 * server: halving would only repeat it. Where a server fails for one element, the store says so in
 * that element's status.
 * An answer that does not come in time has an unknown outcome, which is no harm because verbs are
 * idempotent. `sentAt` is read before the store is called; deadlines count from it.
 * The first batch leaves in the context of who asked first; those behind it, in no caller's.
 * What would break it: to read `sentAt` after the call, to take a time-out for a failure, or to let
 * claims of several parts into one batch.
 */

import type { Clock, Timer } from '../base/clock.ts';
import { detached, type EventLoop } from '../base/event-loop.ts';
import { type StoreError, toStoreError } from '../contract/errors.ts';
import { type Claim, MAX_BATCH, type Store } from '../contract/store.ts';
import { checkReplies } from './replies.ts';
import { answerWithin, TRIES_PER_TTL } from './time-limit.ts';

/** Who asked; told once, with a result or an error. An object, so that asking makes no closure. */
export interface Caller<R> {
  /** False: the request need not be sent any more, and nothing is told. Default true. */
  readonly wanted?: boolean;
  settle(result: R | undefined, error: StoreError | undefined, sentAt: number): void;
}

/** What became of a batch. */
export interface Outcome<R> {
  readonly claims: number;
  /** None if the request as a whole failed. */
  readonly results: readonly R[];
  readonly error: StoreError | undefined;
}

export interface BatcherParts<R> {
  readonly store: Store;
  readonly verb: (claims: readonly Claim[]) => Promise<readonly R[]>;
  /** Makes of each reply what can be relied upon. */
  readonly check: (reply: R) => R;
  /** Called after each batch. */
  readonly done?: ((outcome: Outcome<R>) => void) | undefined;
  readonly clock: Clock;
  readonly loop: EventLoop;
}

/** Sends requests of one verb. */
export interface Sender<R> {
  send(claim: Claim, caller: Caller<R>): void;
}

interface Request<R> {
  readonly claim: Claim;
  readonly caller: Caller<R>;
}

type Batch<R> = readonly Request<R>[];

/** A request waits for the batch before for no longer than this share of its own TTL. */
const WAITS_PER_TTL = 10;

export class Batcher<R> implements Sender<R> {
  readonly #parts: BatcherParts<R>;
  readonly #idle: () => void;
  #pending: Request<R>[] = [];
  /** Sent and not answered: the one that others wait for, and those that are late. */
  readonly #out = new Set<Batch<R>>();
  /** What others wait for; undefined while the next batch is about to leave. */
  #current: Batch<R> | undefined;
  /** A batch is about to leave, or waited for. */
  #busy = false;
  #timer: Timer | undefined;
  /** When the first of those that wait has waited long enough. */
  #dueAt = Number.POSITIVE_INFINITY;

  /** @param idle called when nothing is left in it. */
  constructor(parts: BatcherParts<R>, idle: () => void = () => {}) {
    this.#parts = parts;
    this.#idle = idle;
  }

  send(claim: Claim, caller: Caller<R>): void {
    this.#pending.push({ claim, caller });
    if (this.#current) this.#limitWait(claim.ttlMs);
    else if (!this.#busy) {
      this.#busy = true;
      queueMicrotask(this.#go);
    }
  }

  readonly #go = (): void => this.#parts.loop.run(this.#flush);

  readonly #flush = (now: number): void => {
    const batch = this.#take();
    if (batch.length === 0) return this.#rest();
    this.#current = batch;
    this.#out.add(batch);
    void this.#deliver(batch, now).then(() => {
      this.#out.delete(batch);
      // A late one held up nobody but its own ids.
      if (this.#current === batch || !this.#busy) this.#next();
    });
    for (const { claim } of this.#pending) this.#limitWait(claim.ttlMs);
  };

  /** The next batch leaves, whether the one before it has been answered or not. */
  readonly #next = (): void => {
    this.#current = undefined;
    if (this.#timer) this.#parts.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (this.#pending.length === 0) return this.#rest();
    this.#busy = true;
    detached(this.#go);
  };

  #rest(): void {
    this.#busy = false;
    if (this.#out.size === 0 && this.#pending.length === 0) this.#idle();
  }

  #limitWait(ttlMs: number): void {
    const { clock, store } = this.#parts;
    if (store.traits.synchronous) return;
    const waitMs = ttlMs / WAITS_PER_TTL;
    const dueAt = clock.now() + waitMs;
    if (dueAt >= this.#dueAt) return;
    if (this.#timer) clock.clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = clock.setTimeout(this.#next, waitMs);
    this.#timer.unref();
  }

  #take(): Request<R>[] {
    const { sequential } = this.#parts.store.traits;
    const wanted = this.#pending.filter(({ caller }) => caller.wanted !== false);
    const under = new Set<string>();
    for (const late of this.#out) for (const { claim } of late) under.add(claim.id);
    if (sequential && under.size === 0 && wanted.length <= MAX_BATCH) {
      this.#pending = [];
      return wanted.length > 1 ? wanted.sort(byResource) : wanted;
    }
    const batch: Request<R>[] = [];
    const taken = new Set<string>();
    this.#pending = wanted.filter((request) => {
      const { id, resource } = request.claim;
      const one = sequential ? id : resource;
      if (batch.length === MAX_BATCH || taken.has(one) || under.has(id)) return true;
      taken.add(one);
      batch.push(request);
      return false;
    });
    return batch.sort(byResource);
  }

  /** Never rejects. */
  async #deliver(batch: Batch<R>, sentAt: number): Promise<void> {
    const claims = batch.length;
    let results: readonly R[];
    try {
      const answers = await this.#call(batch.map((request) => request.claim));
      results = checkReplies(answers, claims, this.#parts.check);
    } catch (cause) {
      const error = toStoreError(cause);
      await this.#failed(batch, error, sentAt);
      this.#parts.done?.({ claims, results: [], error });
      return;
    }
    batch.forEach((request, i) => request.caller.settle(results[i], undefined, sentAt));
    this.#parts.done?.({ claims, results, error: undefined });
  }

  async #failed(batch: Batch<R>, error: StoreError, sentAt: number): Promise<void> {
    if (batch.length === 1 || error.retryable || error.outcome === 'unknown') {
      for (const request of batch) request.caller.settle(undefined, error, sentAt);
      return;
    }
    const middle = batch.length >> 1;
    await this.#deliver(batch.slice(0, middle), this.#parts.clock.now());
    await this.#deliver(batch.slice(middle), this.#parts.clock.now());
  }

  #call(claims: Claim[]): Promise<readonly R[]> {
    const patience = Math.min(...claims.map((claim) => claim.ttlMs)) / TRIES_PER_TTL;
    const { store, clock, verb } = this.#parts;
    return answerWithin(patience, { clock, traits: store.traits }, verb(claims));
  }
}

function byResource<R>(a: Request<R>, b: Request<R>): number {
  return a.claim.resource < b.claim.resource ? -1 : a.claim.resource > b.claim.resource ? 1 : 0;
}
