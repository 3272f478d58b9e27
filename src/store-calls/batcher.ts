/**
 * Sends the requests of one verb to one part of the store in batches.
 *
 * The first request leaves in the next microtask, with all others sent by then; requests that
 * arrive while a batch is under way go into the next one, so that a lone caller does not wait and a
 * crowd shares round trips. Where the store says what a portion is, a larger crowd leaves in
 * several batches at once: this process reads the replies of one while the store works on the next.
 * Where a store is synchronous and has portions, there is no round trip to share, so a request that
 * its caller does not take back leaves at once, and its reply comes from within `send`.
 * A request waits for the batch before it for a tenth of its own TTL at most; then it leaves beside
 * that batch, which is late. As a batch waits a third of its shortest TTL for a reply, at most four
 * batches of equal TTLs are under way when the store is silent, and as many portions. An id is
 * never in two of them: its requests keep their order.
 * Claims do not share a fate: each gets its own reply, and a batch that is refused for its content
 * is halved until the culprit is alone. A retryable failure, or one of unknown outcome, is the
 * server's, and all claims of a batch have the same server: halving would only repeat it. Where a
 * server fails for one element, the store says so in that element's status.
 * A reply that does not come in time has an unknown outcome, which is harmless because verbs are
 * idempotent. `sentAt` is read before the store is called; deadlines count from it.
 * The first batch leaves in the context of its first caller; later ones, in no caller's.
 * What would break it: reading `sentAt` after the call, taking a time-out for a failure, letting
 * claims of several parts into one batch, or sending from within a reply, as a store that replies
 * at once would be called again before it is done.
 */
import type { Answered } from '../base/answer.ts';
import { type Clock, timers } from '../base/clock.ts';
import { detached, type EventLoop } from '../base/event-loop.ts';
import type { TimeLimit } from '../base/shared-timer.ts';
import { type StoreError, toStoreError } from '../contract/errors.ts';
import { type Claim, MAX_BATCH, type Store } from '../contract/store.ts';
import { checkReplies, partOf } from './replies.ts';
import { type TimeLimits, TRIES_PER_TTL } from './time-limit.ts';

/** The sender of a request, settled once. An object, so that a request needs no closure. */
export interface Caller<R> {
  /** False: the request is dropped unsent, and not settled. Default true. */
  readonly wanted?: boolean;
  settle(result: R | undefined, error: StoreError | undefined, sentAt: number): void;
}

/** The outcome of a batch. */
export interface BatchOutcome<R> {
  readonly claims: number;
  /** None if the request as a whole failed. */
  readonly results: readonly R[];
  readonly error: StoreError | undefined;
}

export interface BatcherParts<R> {
  readonly store: Store;
  readonly verb: (claims: readonly Claim[]) => Promise<readonly R[]>;
  /** Checks a reply; may return another one in its place. */
  readonly check: (reply: R) => R;
  /** Called after each batch. */
  readonly done?: ((outcome: BatchOutcome<R>) => void) | undefined;
  readonly clock: Clock;
  readonly loop: EventLoop;
  readonly limits: TimeLimits;
  /** The store's, for verbs of which a crowd waits. */
  readonly portion?: number | undefined;
  /** No caller drops its request. Default: one may, until the next microtask. */
  readonly final?: boolean;
}

/** Sends requests of one verb. */
export interface Sender<R> {
  /** `now`: what the clock has just been read to say, if it was. */
  send(claim: Claim, caller: Caller<R>, now?: number): void;
}

interface BatchRequest<R> {
  readonly claim: Claim;
  readonly caller: Caller<R>;
}

type CallBatch<R> = readonly BatchRequest<R>[];

/** A request waits for the batch before it for at most its own TTL divided by this. */
const WAITS_PER_TTL = 10;

/** So many portions may be under way beside the last. */
const PORTIONS = 4;

/** No caller gets this one: a program may change the `then` of a promise that it was given. */
const SOON: Promise<void> = Promise.resolve();

export class Batcher<R> implements Sender<R> {
  readonly #parts: BatcherParts<R>;
  readonly #idle: () => void;
  readonly #leavesAtOnce: boolean;
  #pending: BatchRequest<R>[] = [];
  /** Unanswered, and others wait for it; undefined while the next one is about to leave. */
  #current: CallBatch<R> | undefined;
  /** Unanswered, and no longer waited for. */
  readonly #late = new Set<CallBatch<R>>();
  /** A batch is about to leave, or others wait for one. */
  #busy = false;
  /** How long the first waiting request waits at most. */
  #wait: TimeLimit | undefined;

  /** @param idle called when it is empty. */
  constructor(parts: BatcherParts<R>, idle: () => void = () => {}) {
    this.#parts = parts;
    this.#idle = idle;
    const { final = false, portion, store } = parts;
    const { synchronous = false } = store.traits;
    this.#leavesAtOnce = final && synchronous && portion !== undefined;
  }

  send(claim: Claim, caller: Caller<R>, now?: number): void {
    this.#pending.push({ claim, caller });
    if (this.#current) this.#limitWait(claim.ttlMs);
    else if (!this.#busy) {
      this.#busy = true;
      if (this.#leavesAtOnce) this.#parts.loop.run(this.#flush, now);
      // Less work for Node than `queueMicrotask`, which makes an object for hooks.
      else void SOON.then(this.#go);
    }
  }

  /** A store that waits for input and output gives the loop its turns by itself. */
  readonly #go = (): void => {
    const { clock, loop, store } = this.#parts;
    if (store.traits.synchronous) loop.run(this.#flush);
    else this.#flush(clock.now());
  };

  readonly #flush = (now: number): void => {
    const batch = this.#take();
    if (batch.length === 0) return this.#rest();
    this.#current = batch;
    new Delivery(this.#parts, batch, this.#over).send(now);
    const { portion } = this.#parts;
    const overlaps = portion !== undefined && this.#late.size < PORTIONS;
    if (overlaps && this.#pending.length > 0 && this.#current === batch) return this.#next();
    for (const { claim } of this.#pending) this.#limitWait(claim.ttlMs);
  };

  readonly #over = (batch: CallBatch<R>): void => {
    const isLate = this.#current !== batch;
    if (isLate) this.#late.delete(batch);
    else this.#current = undefined;
    // A late batch holds up only its own ids.
    if (!isLate || !this.#busy) this.#next();
  };

  /** Sends the next batch, whether or not the one before it got a reply. */
  readonly #next = (): void => {
    if (this.#current) this.#late.add(this.#current);
    this.#current = undefined;
    if (this.#wait) this.#parts.limits.timer.delete(this.#wait);
    this.#wait = undefined;
    if (this.#pending.length === 0) return this.#rest();
    this.#busy = true;
    // Not at once, since a store that is synchronous would call this again from within.
    if (this.#parts.store.traits.synchronous) timers.queueMicrotask(() => detached(this.#go));
    else detached(this.#go);
  };

  #rest(): void {
    this.#busy = false;
    if (this.#late.size === 0 && this.#pending.length === 0) this.#idle();
  }

  #limitWait(ttlMs: number): void {
    const { clock, limits, store } = this.#parts;
    if (store.traits.synchronous) return;
    const dueAt = clock.now() + ttlMs / WAITS_PER_TTL;
    if (this.#wait && dueAt >= this.#wait.dueAt) return;
    if (this.#wait) limits.timer.delete(this.#wait);
    this.#wait = limits.timer.add(dueAt, this.#next);
  }

  #take(): BatchRequest<R>[] {
    const { store, portion: most = MAX_BATCH } = this.#parts;
    const { sequential } = store.traits;
    // Taken out of the array, which stays: most requests are alone.
    const alone = this.#pending.length + this.#late.size === 1 && this.#pending.pop();
    if (alone) return alone.caller.wanted === false ? [] : [alone];
    const wanted = this.#pending.filter(({ caller }) => caller.wanted !== false);
    if (this.#late.size === 0 && wanted.length <= (sequential ? most : 1)) {
      this.#pending = [];
      return wanted.length > 1 ? wanted.sort(byResource) : wanted;
    }
    const under = new Set<string>();
    for (const late of this.#late) for (const { claim } of late) under.add(claim.id);
    const batch: BatchRequest<R>[] = [];
    const taken = new Set<string>();
    this.#pending = wanted.filter((request) => {
      const { id, resource } = request.claim;
      const one = sequential ? id : resource;
      if (batch.length === most || taken.has(one) || under.has(id)) return true;
      taken.add(one);
      batch.push(request);
      return false;
    });
    return batch.sort(byResource);
  }
}

/** A batch under way. */
class Delivery<R> implements Answered<readonly R[]> {
  readonly #parts: BatcherParts<R>;
  readonly #batch: CallBatch<R>;
  readonly #over: (batch: CallBatch<R>) => void;
  #sentAt = 0;

  /** @param over called once all callers are settled. */
  constructor(parts: BatcherParts<R>, batch: CallBatch<R>, over: (batch: CallBatch<R>) => void) {
    this.#parts = parts;
    this.#batch = batch;
    this.#over = over;
  }

  send(sentAt: number): void {
    const { limits, verb } = this.#parts;
    this.#sentAt = sentAt;
    const claims = this.#batch.map(({ claim }) => claim);
    let ttlMs = Number.POSITIVE_INFINITY;
    for (const claim of claims) ttlMs = Math.min(ttlMs, claim.ttlMs);
    const terms = { sentAt, ms: ttlMs / TRIES_PER_TTL };
    limits.request<readonly R[]>(this, () => verb(claims), terms);
  }

  settle(replies: readonly R[]): void {
    let results: readonly R[];
    try {
      results = checkReplies(replies, this.#batch.length, this.#parts.check);
    } catch (error) {
      return this.fail(error);
    }
    this.#settle(results);
  }

  /** Halves the batch, if one in it may be the reason. */
  fail(thrown: unknown): void {
    const { clock } = this.#parts;
    const batch = this.#batch;
    const error = toStoreError(thrown);
    const whole = batch.length === 1 || error.retryable || error.outcome === 'unknown';
    if (whole) return this.#settle([], error);
    const middle = batch.length >> 1;
    const second = new Delivery(this.#parts, batch.slice(middle), () => this.#over(batch));
    const later = (): void => second.send(clock.now());
    new Delivery(this.#parts, batch.slice(0, middle), later).send(clock.now());
  }

  #settle(results: readonly R[], error?: StoreError): void {
    let i = 0;
    for (const { caller } of this.#batch) caller.settle(results[i++], error, this.#sentAt);
    this.#parts.done?.({ claims: this.#batch.length, results, error });
    this.#over(this.#batch);
  }
}

export function senderOf<R>(parts: BatcherParts<R>): Sender<R> {
  return parts.store.partOf ? new ByPart(parts) : new Batcher(parts);
}

/**
 * One batcher for each part of the store, so that no request waits for another part. An empty one
 * is forgotten: parts that are used one after the other cost no memory, and one that is not empty
 * keeps the order of an id's requests.
 */
class ByPart<R> implements Sender<R> {
  readonly #parts: BatcherParts<R>;
  readonly #batchers = new Map<string, Batcher<R>>();

  constructor(parts: BatcherParts<R>) {
    this.#parts = parts;
  }

  send(claim: Claim, caller: Caller<R>, now?: number): void {
    const part = partOf(this.#parts.store, claim.resource);
    let batcher = this.#batchers.get(part);
    if (!batcher) {
      batcher = new Batcher(this.#parts, () => this.#batchers.delete(part));
      this.#batchers.set(part, batcher);
    }
    batcher.send(claim, caller, now);
  }
}

function byResource<R>(a: BatchRequest<R>, b: BatchRequest<R>): number {
  return a.claim.resource < b.claim.resource ? -1 : a.claim.resource > b.claim.resource ? 1 : 0;
}
