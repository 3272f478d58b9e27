/**
 * The tasks of this process that want the same lock, and the one claim it holds for them.
 *
 * Invariant: at most one lease is out, only the claim's holder has it, and leases come in the order
 * of the tasks. Mutexes and write locks with equal terms share a queue: on release the lease passes
 * to the next task without a trip to the server, with the next token inside STEP, so that tokens
 * grow with every holder. Others get a queue of their own for each task. As soon as another process
 * waits, at most a batch bounded in count and time passes before the claim is given up, so nobody
 * outside starves; and never a lease with too little life left.
 * What would break it: to hand on a claim whose deadline has passed, or to reuse a token.
 */

import { Line } from '../base/fifo.ts';
import { randomId } from '../base/random-id.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Claim, GoneStatus, Kind } from '../contract/store.ts';
import { STEP } from '../contract/token.ts';
import type { ClaimListener } from './claim-terms.ts';
import type { Core } from './engine.ts';
import {
  AcquireTimeoutError,
  LeaseLostError,
  type LossReason,
  MismatchError,
  QueueFullError,
} from './errors.ts';
import { Lease } from './lease.ts';
import { LiveClaim } from './live-claim.ts';
import { type AcquireOptions, type Outlook, type Subject, Task } from './waiter.ts';

/** What a primitive asks for, checked and complete. */
export interface Spec {
  readonly resource: string;
  readonly kind: Kind;
  readonly limit: number;
  readonly ttlMs: number;
  readonly minHoldMs: number;
  readonly maxHoldMs: number | undefined;
  readonly heartbeat: boolean;
  readonly reentrant: boolean;
  /** Tasks of this process share one claim. */
  readonly shared: boolean;
  /** Equal for those who may share it. */
  readonly key: string;
}

/** Local hand-offs while another process waits, and for how many ms: a turn, not a reign. */
const BATCH = { count: 64, ms: 50 };

/** Longest pause before a lost place in the queue is claimed again, in ms. */
const RECLAIM_MS = 25;

export class LocalQueue implements ClaimListener, Subject {
  readonly core: Core;
  readonly spec: Spec;
  lease: Lease | undefined;
  #live: LiveClaim | undefined;
  /** The claim whose next lease is about to be handed on. */
  #passing: LiveClaim | undefined;
  readonly #line = new Line<Task<Lease | null>>();
  #permits = 1;
  /** The task that came to try; it never waits, and it is the first in line. */
  #trying: Task<Lease | null> | undefined;
  #issued = 0;
  #passed = 0;
  #passingSince = 0;

  constructor(core: Core, spec: Spec) {
    this.core = core;
    this.spec = spec;
  }

  get resource(): string {
    return this.spec.resource;
  }

  get kind(): Kind {
    return this.spec.kind;
  }

  outlook(): Outlook {
    const { ahead, failure } = this.#live ?? {};
    return { ahead, failure };
  }

  /** Resolves with null if `waits` is false and the lock is not free. */
  join(options: AcquireOptions, permits: number, waits: boolean): Promise<Lease | null> {
    if (!waits) {
      if (this.#live?.alive(this.core.clock.now())) return Promise.resolve(null);
      // Our claim, not answered or not granted, does not prove that somebody holds: ask apart.
      if (this.#live || this.#line.first) return this.#apart().join(options, permits, waits);
    }
    return new Promise((resolve, reject) => {
      const own = waits ? options : untimed(options);
      const task = new Task(this.core, { subject: this, options: own, resolve, reject });
      this.#line.push(task);
      if (this.#live) return;
      this.#permits = permits;
      this.#trying = waits ? undefined : task;
      this.#claim();
    });
  }

  /** Ends all waits. */
  rejectAll(error: unknown): void {
    this.#trying = undefined;
    for (let task = this.#line.shift(); task; task = this.#line.shift()) task.reject(error);
    this.#leaveIfIdle();
  }

  /** Ends the hold, if there is one, without giving the claim back. */
  lose(reason: LossReason): void {
    this.#live?.lose(reason);
  }

  leave(task: Task<Lease | null>): void {
    this.#line.remove(task);
    if (this.#trying === task) this.#trying = undefined;
    this.#leaveIfIdle();
  }

  async timedOut(waitedMs: number, { ahead, failure }: Outlook): Promise<Error> {
    const holders = await this.core.lastLook(this.resource);
    return new AcquireTimeoutError(this.resource, { waitedMs, ahead, holders, failure });
  }

  granted(now: number): void {
    this.#issued = 0;
    this.#passed = 0;
    this.#hand(now);
  }

  gone({ why, detail }: GoneStatus): void {
    const { resource, kind } = this.spec;
    const tried = this.#isTry();
    this.#live = undefined;
    if (why === 'refused' && tried) this.#settleTry((task) => task.resolve(null));
    else if (why === 'mismatch') {
      this.rejectAll(new MismatchError(resource, detail ?? 'another kind is in its queue'));
      this.core.events.emit('mismatch', { resource, kind, detail: detail ?? '' });
    } else if (why === 'full') this.rejectAll(new QueueFullError(resource, detail ?? 'full'));
    else if (why === 'evicted') this.rejectAll(new LeaseLostError(resource, why, { detail }));
    else this.#claimLater();
  }

  failed(error: StoreError): void {
    const tried = this.#isTry();
    this.#live = undefined;
    if (tried) this.#settleTry((task) => task.reject(error));
    else this.rejectAll(error);
  }

  lost(reason: LossReason, detail: string | undefined): void {
    const { lease } = this;
    this.#live = undefined;
    this.lease = undefined;
    lease?.lose(reason, detail);
    // Whoever heard of it may have claimed already.
    if (!this.#live) this.#claimAgain();
  }

  /** The holder is done. The promise is there if the store has to be told. */
  handOn(lease: Lease, now: number): Promise<void> | undefined {
    const { live } = lease;
    const afterMs = Math.max(0, Math.ceil(this.spec.minHoldMs - (now - lease.since)));
    if (this.lease !== lease) return live.release(afterMs);
    this.lease = undefined;
    if (this.#line.first && this.#mayPass(live, now)) {
      this.#passing = live;
      this.core.turn.run(this.#passOn, now);
      return undefined;
    }
    this.#live = undefined;
    const left = live.release(afterMs);
    this.#claimAgain();
    return left;
  }

  #claim(): void {
    const { resource, kind, limit, ttlMs, minHoldMs, heartbeat } = this.spec;
    this.core.queues.add(this);
    const claim: Claim = {
      resource,
      id: randomId(),
      kind,
      permits: this.#permits,
      limit,
      ttlMs: Math.max(ttlMs, minHoldMs),
      queue: this.#trying === undefined,
      holder: this.core.holder(this.#line.first?.options.label),
    };
    const terms = { heartbeat, beatTtlMs: ttlMs, confirmGrant: minHoldMs > 0 };
    this.#live = new LiveClaim(this.core, claim, terms, this);
    this.#live.start();
  }

  #apart(): LocalQueue {
    return new LocalQueue(this.core, { ...this.spec, shared: false });
  }

  #isTry(): boolean {
    return this.#live?.claim.queue === false;
  }

  /** Those who came after the try, or after it was aborted, wait on. */
  #settleTry(settle: (task: Task<Lease | null>) => void): void {
    const task = this.#trying;
    this.#trying = undefined;
    if (task) {
      this.#line.remove(task);
      settle(task);
    }
    this.#claimAgain();
  }

  #claimAgain(): void {
    if (this.#line.first) this.#claim();
    else this.core.forget(this);
  }

  /** The place in the queue is lost; a moment's pause keeps a broken store from spinning us. */
  #claimLater(): void {
    const { clock } = this.core;
    clock.setTimeout(() => {
      if (!this.#live) this.#claimAgain();
    }, clock.random() * RECLAIM_MS);
  }

  #hand(now: number): void {
    const task = this.#line.shift();
    if (!task || !this.#live) return this.#leaveIfIdle();
    this.#trying = undefined;
    const lease = new Lease(this, this.#live, this.#issued++, now);
    lease.acquisition = task.options.acquisition;
    this.lease = lease;
    // First, for a listener may abort the wait that is over.
    task.resolve(lease);
    lease.announce();
  }

  readonly #passOn = (now: number): void => {
    // The claim may have been lost, and another one begun, while this was parked.
    if (!this.#live || this.#live !== this.#passing || this.lease) return;
    if (this.#live.fresh(now)) return this.#hand(now);
    void this.#live.release();
    this.#live = undefined;
    this.#claimAgain();
  };

  #mayPass(live: LiveClaim, now: number): boolean {
    if (!this.spec.shared || this.#issued >= STEP) return false;
    if (live.claim.kind !== this.spec.kind) return false;
    if (live.waiters === 0) this.#passed = 0;
    if (live.waiters === 0) return true;
    if (this.#passed++ === 0) this.#passingSince = now;
    return this.#passed <= BATCH.count && now - this.#passingSince <= BATCH.ms;
  }

  #leaveIfIdle(): void {
    if (this.#line.first || this.lease) return;
    void this.#live?.release();
    this.#live = undefined;
    this.core.forget(this);
  }
}

/** A try never waits, so its wait cannot run out. */
function untimed({ wait: _, ...options }: AcquireOptions): AcquireOptions {
  return options;
}
