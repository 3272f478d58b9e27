import { hostname } from 'node:os';
import { onAbort } from '../base/aborts.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { MAX_DURATION_MS } from '../base/duration.ts';
import { inBackground, Turn } from '../base/event-loop.ts';
import { ClosedError, type StoreError, toStoreError } from '../contract/errors.ts';
import type {
  Claim,
  ClaimStatus,
  Follower,
  Holder,
  Member,
  Queue,
  Store,
} from '../contract/store.ts';
import { tokenOf } from '../contract/token.ts';
import { type Answered, type Lane, type LaneParts, openLane } from '../store-calls/batcher.ts';
import {
  checkBoolean,
  checkQueue,
  checkStatus,
  checkSubscription,
} from '../store-calls/replies.ts';
import { answerWithin, TRIES_PER_TTL } from '../store-calls/time-limit.ts';
import { Events } from './events.ts';
import { Heartbeat } from './heartbeat.ts';
import { LocalQueue, type Spec } from './local-queue.ts';
import { noticeHeartbeat } from './notices.ts';

/** What `createLocks` was told, checked. */
export interface CoreOptions {
  readonly prefix: string;
  readonly label: string | undefined;
  readonly ttlMs: number;
  readonly waitMs: number | undefined;
  readonly maxTtlMs: number;
  readonly driftRate: number;
  readonly marginMs: number;
}

/** How long a failed wait may ask who holds the resource, in ms: an answer is a courtesy. */
const LAST_LOOK_MS = 250;

/** What all primitives of one `Locks` share. */
export class Core {
  readonly store: Store;
  readonly clock: Clock;
  readonly options: CoreOptions;
  readonly events: Events = new Events();
  readonly turn: Turn;
  readonly heartbeat: Heartbeat;
  readonly lanes: {
    readonly claim: Lane<ClaimStatus>;
    readonly release: Lane<boolean>;
  };
  /** Candidates that stand or lead, and who observes them. */
  readonly campaigns: Set<{ close(): void }> = new Set();
  /** Every queue of this process with a claim or a task in it. */
  readonly queues: Set<LocalQueue> = new Set();
  readonly #shared = new Map<string, LocalQueue>();
  readonly #looks = new Map<string, Promise<readonly Member[]>>();
  readonly #host = hostname();
  readonly #forgetJumps: (() => void) | undefined;
  /** On our clock: what was asked before is in doubt, for the clock may have stood still then. */
  jumpedAt: number = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #keepAlive: Timer | undefined;
  #departing = 0;
  #onIdle: (() => void)[] = [];
  #closed = false;
  #storeClosed = false;

  constructor(store: Store, clock: Clock, options: CoreOptions) {
    this.store = store;
    this.clock = clock;
    this.options = options;
    this.turn = new Turn(clock);
    const beats = this.#beats();
    this.heartbeat = new Heartbeat(clock, () => openLane(beats));
    this.lanes = {
      claim: this.lane((claims) => store.claim(claims)),
      release: this.#departures(),
    };
    this.#forgetJumps = clock.onJump?.((at) => {
      this.jumpedAt = at;
      // Whoever has just read the clock, read it, and no more.
      queueMicrotask(() => inBackground(() => this.heartbeat.doubt()));
    });
  }

  lane(verb: LaneParts<ClaimStatus>['verb']): Lane<ClaimStatus> {
    return this.#lane(verb, checkStatus);
  }

  #departures(after?: { readonly ms: number }): Lane<boolean> {
    return this.#lane((claims) => this.store.release(claims, after), checkBoolean);
  }

  #lane<R>(verb: LaneParts<R>['verb'], check: LaneParts<R>['check']): Lane<R> {
    const { store, clock, turn } = this;
    return openLane({ store, verb, check, answered: undefined, clock, turn });
  }

  /** Made once, for a lock that is taken by itself begins a heartbeat of its own. */
  #beats(): LaneParts<ClaimStatus> {
    const { store, clock, turn, events } = this;
    const verb: LaneParts<ClaimStatus>['verb'] = (claims) => store.renew(claims);
    const answered = (request: Answered<ClaimStatus>): void => {
      noticeHeartbeat(events, { ...request, store: store.name });
    };
    return { store, verb, check: checkStatus, answered, clock, turn };
  }

  /** The queue in which the tasks of this process share one claim, or one of its own. */
  queueFor(spec: Spec): LocalQueue {
    if (!spec.shared) return new LocalQueue(this, spec);
    const known = this.#shared.get(spec.key);
    if (known) return known;
    const queue = new LocalQueue(this, spec);
    this.#shared.set(spec.key, queue);
    return queue;
  }

  forget(queue: LocalQueue): void {
    this.queues.delete(queue);
    this.#checkIdle();
    if (queue.spec.shared && this.#shared.get(queue.spec.key) === queue) {
      this.#shared.delete(queue.spec.key);
    }
  }

  holder(label: string | undefined = this.options.label): Holder {
    const who = { host: this.#host, pid: process.pid, since: Date.now() };
    return label === undefined ? who : { ...who, label };
  }

  /** Sends a release; tells the error if it failed, so that it can be repeated. */
  depart(claim: Claim, afterMs: number, done: (error: StoreError | undefined) => void): void {
    if (this.#storeClosed) return done(undefined);
    this.#departing++;
    const told = (error: StoreError | undefined): void => {
      this.#departing--;
      done(error);
      this.#checkIdle();
    };
    const lane = afterMs <= 0 ? this.lanes.release : this.#departures({ ms: afterMs });
    lane.send(claim, { settle: (_, error) => told(error) });
  }

  /**
   * What the store says to a question that no lane asks.
   * @param about the claim that it is about; default none.
   * @throws StoreError
   */
  async answer<T>(
    question: () => Promise<T>,
    check: (answer: T) => T,
    about: { readonly ttlMs: number } = this.options,
  ): Promise<T> {
    const patience = about.ttlMs / TRIES_PER_TTL;
    const parts = { clock: this.clock, traits: this.store.traits };
    try {
      return check(await answerWithin(patience, parts, question()));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** Holders first, then waiters, with tokens as leases have them. */
  async inspect(resource: string): Promise<Queue> {
    this.checkOpen();
    return scaled(await this.answer(() => this.store.inspect(resource), checkQueue));
  }

  /**
   * Tells the queue as `inspect` does, now and as it changes; undefined if the store cannot.
   * @throws StoreError
   */
  async follow(resource: string, follower: Follower): Promise<AsyncDisposable | undefined> {
    this.checkOpen();
    const { store } = this;
    if (!store.follow) return undefined;
    const follow = store.follow.bind(store, resource, checked(follower));
    let following: Promise<AsyncDisposable> | undefined;
    const ask = (): Promise<AsyncDisposable> => {
      following = Promise.resolve(follow());
      return following;
    };
    try {
      return await this.answer(ask, checkSubscription);
    } catch (error) {
      // What comes too late is of no use to anybody.
      following?.then((late) => checkSubscription(late)[Symbol.asyncDispose]()).catch(() => {});
      throw error;
    }
  }

  /** Resolves early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.clock.clearTimeout(timer);
        forget?.();
        resolve();
      };
      const timer = this.clock.setTimeout(wake, signal?.aborted ? 0 : ms);
      const forget = signal && onAbort(signal, wake);
    });
  }

  /** Who holds the resource now; empty if the store does not say so soon. */
  lastLook(resource: string): Promise<readonly Member[]> {
    const known = this.#looks.get(resource);
    if (known) return known;
    const look = new Promise<readonly Member[]>((resolve) => {
      const timer = this.clock.setTimeout(() => resolve([]), LAST_LOOK_MS);
      this.inspect(resource)
        .then(
          (queue) => resolve(queue.holders),
          () => resolve([]),
        )
        .finally(() => this.clock.clearTimeout(timer));
    }).finally(() => this.#looks.delete(resource));
    this.#looks.set(resource, look);
    return look;
  }

  /** A process in which somebody waits must not end for lack of other work. */
  waits(change: 1 | -1): void {
    this.#waiting += change;
    if (this.#waiting === 0) this.#keepAlive?.unref();
    else if (this.#waiting === 1 && change === 1) {
      if (this.#keepAlive) this.#keepAlive.ref();
      else this.#keepAlive = inBackground(() => this.clock.setTimeout(() => {}, MAX_DURATION_MS));
    }
  }

  /** @throws ClosedError */
  checkOpen(): void {
    if (this.#closed) throw new ClosedError();
  }

  readonly storeClosed = (): boolean => this.#storeClosed;

  /** From now on nobody comes in. */
  refuse(): void {
    this.#closed = true;
  }

  /** Resolves when no claim is left and every departure was told to the store. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
      this.#checkIdle();
    });
  }

  #checkIdle(): void {
    if (this.queues.size > 0 || this.#departing > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  async closeStore(last: boolean): Promise<void> {
    this.#storeClosed = true;
    this.#forgetJumps?.();
    if (this.#keepAlive) this.clock.clearTimeout(this.#keepAlive);
    if (!last) return;
    try {
      await this.store.close?.();
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

/** With tokens as leases have them. */
function scaled(queue: Queue): Queue {
  const scale = (member: Member): Member => ({ ...member, number: tokenOf(member.number) });
  return { ...queue, holders: queue.holders.map(scale), waiters: queue.waiters.map(scale) };
}

/** What is no queue is not told, but that something was. */
function checked(follower: Follower): Follower {
  let lost = false;
  return {
    told(queue, missed) {
      try {
        checkQueue(queue);
      } catch {
        lost = true;
        return;
      }
      follower.told(scaled(queue), missed === true || lost);
      lost = false;
    },
    failed: (error) => follower.failed(toStoreError(error)),
  };
}
