/**
 * The waiters of this process that want the same lock, and the one claim it holds for them.
 *
 * Invariant: at most one lease is out, only the claim's holder has it, and leases come in the order
 * of the waiters. Mutexes and write locks with equal terms share a queue: on release the lease
 * passes to the next waiter without a trip to the server, with the next token inside STEP, so that
 * tokens grow with every holder. For other locks, each waiter gets a queue of its own. Once another
 * process waits, the queue gives the claim up after a batch bounded in count and time, so that no
 * other process starves. It never passes on a lease with too little life left.
 * What would break it: to hand on a claim whose deadline has passed, or to reuse a token.
 */

import { hostname } from 'node:os';
import { Fifo } from '../base/fifo.ts';
import { randomId } from '../base/random-id.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Claim, GoneStatus, Holder, Kind } from '../contract/store.ts';
import { STEP } from '../contract/token.ts';
import type { Outlook } from '../store-calls/waiting.ts';
import type { Claimant } from './claim-state.ts';
import {
  LeaseLostError,
  type Loss,
  type LossReason,
  MismatchError,
  QueueFullError,
} from './errors.ts';
import { noticeQuarantine } from './events.ts';
import { type Issuer, Lease } from './lease.ts';
import { LiveClaim } from './live-claim.ts';
import type { Services } from './services.ts';
import type { Spec } from './spec.ts';
import { type AcquireOptions, type Subject, Waiter } from './waiter.ts';

/** Most local hand-offs while another process waits, and for how many ms. */
const BATCH = { count: 64, ms: 50 };

const HOST = hostname();

/** Longest pause before a lost place in the queue is claimed again, in ms. */
const RECLAIM_MS = 25;

/** Lists each queue that has a claim or a waiter. */
export interface Registry {
  add(queue: LocalQueue): void;
  remove(queue: LocalQueue): void;
}

export class LocalQueue implements Claimant, Subject, Issuer {
  readonly spec: Spec;
  lease: Lease | undefined;
  #live: LiveClaim | undefined;
  readonly #line = new Fifo<Waiter<Lease | null>>();
  #permits = 1;
  /** The waiter of a try; it never waits, and it is the first in line. */
  #trying: Waiter<Lease | null> | undefined;
  #issued = 0;
  #passed = 0;
  #passingSince = 0;
  readonly #services: Services;
  readonly #registry: Registry;

  constructor(services: Services, spec: Spec, registry: Registry) {
    this.#services = services;
    this.spec = spec;
    this.#registry = registry;
  }

  get resource(): string {
    return this.spec.resource;
  }

  get kind(): Kind {
    return this.spec.kind;
  }

  outlook(): Outlook {
    const { state, failure } = this.#live ?? {};
    return { status: state?.at === 'waiting' ? state.status : undefined, failure };
  }

  /** Resolves with null if `waits` is false and the lock is not free. */
  join(options: AcquireOptions, permits: number, waits: boolean): Promise<Lease | null> {
    if (!waits) {
      if (this.#live?.check()) return Promise.resolve(null);
      // Our own unanswered or ungranted claim does not prove that another holds: claim apart.
      if (this.#live || this.#line.first) return this.#apart().join(options, permits, waits);
    }
    return new Promise((resolve, reject) => {
      const own = waits ? options : untimed(options);
      const waiter = new Waiter(this.#services, { subject: this, options: own, resolve, reject });
      this.#line.push(waiter);
      if (this.#live) return;
      this.#permits = permits;
      this.#trying = waits ? undefined : waiter;
      this.#claim();
    });
  }

  /** The waiters at both ends: in a line that is stuck the first stays, in a slow one the last. */
  get ends(): readonly (Waiter<Lease | null> | undefined)[] {
    return [this.#line.first, this.#line.last];
  }

  /** Ends all waits. */
  rejectAll(error: unknown): void {
    this.#trying = undefined;
    for (let waiter = this.#line.shift(); waiter; waiter = this.#line.shift()) waiter.reject(error);
    this.#leaveIfIdle();
  }

  /** Ends the hold, if there is one, without giving the claim back. */
  lose(reason: LossReason): void {
    this.#live?.lose({ reason });
  }

  leave(waiter: Waiter<Lease | null>): void {
    this.#line.remove(waiter);
    if (this.#trying === waiter) this.#trying = undefined;
    this.#leaveIfIdle();
  }

  granted(now: number): void {
    this.#issued = 0;
    this.#passed = 0;
    this.#hand(now);
  }

  gone(status: GoneStatus): void {
    const { resource, kind } = this.spec;
    const { why, detail } = status;
    const tried = this.#isTry();
    this.#live = undefined;
    if (why === 'refused' && tried) this.#refused(status);
    else if (why === 'mismatch') {
      this.rejectAll(new MismatchError(resource, detail ?? 'another kind is in its queue'));
      this.#services.events.emit('mismatch', { resource, kind, detail: detail ?? '' });
    } else if (why === 'full') this.rejectAll(new QueueFullError(resource, detail ?? 'full'));
    else if (why === 'evicted') this.rejectAll(new LeaseLostError(resource, why, { detail }));
    else this.#claimLater();
  }

  failed(error: StoreError): void {
    const tried = this.#isTry();
    this.#live = undefined;
    if (tried) this.#settleTry((waiter) => waiter.reject(error));
    else this.rejectAll(error);
  }

  lost(loss: Loss): void {
    const { lease } = this;
    this.#live = undefined;
    this.lease = undefined;
    lease?.lose(loss);
    // A listener of `lost` may have claimed already.
    if (!this.#live) this.#claimAgain();
  }

  /** The holder is done. Returns a promise if the store needs a request. */
  handOn(lease: Lease, now: number): Promise<void> | undefined {
    const { live } = lease;
    const afterMs = Math.max(0, Math.ceil(this.spec.minHoldMs - (now - lease.since)));
    if (this.lease !== lease) return live.release(afterMs);
    this.lease = undefined;
    // The limit was this lease's; the next one sets its own.
    live.deadline.limit(Number.POSITIVE_INFINITY);
    if (this.#line.first && this.#mayPass(live, now)) {
      this.#services.loop.run(this.#passOn, now);
      return undefined;
    }
    this.#live = undefined;
    const left = live.release(afterMs);
    this.#claimAgain();
    return left;
  }

  #claim(): void {
    const { resource, kind, limit, ttlMs, minHoldMs, heartbeat } = this.spec;
    this.#registry.add(this);
    const claim: Claim = {
      resource,
      id: randomId(),
      kind,
      permits: this.#permits,
      limit,
      ttlMs: Math.max(ttlMs, minHoldMs),
      queue: this.#trying === undefined,
      holder: this.#holder(),
    };
    const terms = { heartbeat, beatTtlMs: ttlMs, confirmGrant: minHoldMs > 0 };
    this.#live = new LiveClaim(this.#services, claim, terms, this);
    this.#live.start();
  }

  #holder(): Holder {
    const { label = this.#services.settings.label } = this.#line.first?.options ?? {};
    const who = { host: HOST, pid: process.pid, since: Date.now() };
    return label === undefined ? who : { ...who, label };
  }

  #apart(): LocalQueue {
    return new LocalQueue(this.#services, { ...this.spec, shared: false }, this.#registry);
  }

  #isTry(): boolean {
    return this.#live?.claim.queue === false;
  }

  #refused(status: GoneStatus): void {
    const { quarantineMs } = status;
    this.#settleTry((waiter) => {
      waiter.options.refused?.(status);
      waiter.resolve(null);
    });
    // Last, for a listener may do anything.
    if (quarantineMs !== undefined) noticeQuarantine(this.#services, this.spec, quarantineMs);
  }

  /** Later waiters, also those after an aborted try, go on waiting. */
  #settleTry(settle: (waiter: Waiter<Lease | null>) => void): void {
    const waiter = this.#trying;
    this.#trying = undefined;
    if (waiter) {
      this.#line.remove(waiter);
      settle(waiter);
    }
    this.#claimAgain();
  }

  #claimAgain(): void {
    if (this.#line.first) this.#claim();
    else this.#registry.remove(this);
  }

  /** The place in the queue is lost; a short pause avoids a busy loop on a broken store. */
  #claimLater(): void {
    const { clock } = this.#services;
    clock.setTimeout(() => {
      if (!this.#live) this.#claimAgain();
    }, clock.random() * RECLAIM_MS);
  }

  #hand(now: number): void {
    const waiter = this.#line.shift();
    const live = this.#live;
    if (!waiter || live?.state.at !== 'held') return this.#leaveIfIdle();
    this.#trying = undefined;
    const { maxHoldMs } = this.spec;
    if (maxHoldMs !== undefined) live.deadline.limit(now + maxHoldMs);
    const { acquisition } = waiter.options;
    const parts = { live, grant: live.state.grant, issuer: this, acquisition };
    const lease = new Lease(this.#services, parts, { nth: this.#issued++, since: now });
    this.lease = lease;
    // First, for a listener may abort the wait.
    waiter.resolve(lease);
    lease.announce();
    // Last, for it may find that the process stood still meanwhile.
    if (maxHoldMs !== undefined) live.awaitDeadline();
  }

  readonly #passOn = (now: number): void => {
    // While this was parked, the claim may have been lost and another begun.
    if (this.#live?.state.at !== 'held' || this.lease) return;
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
    this.#registry.remove(this);
  }
}

/** A try never waits, so its wait cannot run out. */
function untimed({ wait: _, ...options }: AcquireOptions): AcquireOptions {
  return options;
}
