/**
 * The waiters of this process that want the same lock, and the one claim it holds for them.
 *
 * Invariant: at most one lease is out, only the claim's holder has it, and leases come in the order
 * of the waiters. Mutexes and write locks with equal terms share a queue: on release the lease
 * passes to the next waiter without a trip to the server, with the next token inside STEP, so that
 * tokens grow with every holder. For other locks, each waiter gets a queue of its own. Once another
 * process waits, the queue gives the claim up after a batch bounded in count and time, so that no
 * other process starves; because a message about waiters may not reach this process, it also asks
 * for them while it passes the claim on. Where the store shows no waiters, it assumes some, and
 * rests after each batch. It never passes on a lease with too little life left.
 * What would break it: handing on a claim whose deadline has passed, or reusing a token.
 */
import { hostname } from 'node:os';
import { detached } from '../base/event-loop.ts';
import { Fifo } from '../base/fifo.ts';
import { randomId } from '../base/random-id.ts';
import type { StoreError } from '../contract/errors.ts';
import { CANDIDATE, type Claim, type GoneStatus } from '../contract/store.ts';
import { STEP } from '../contract/token.ts';
import type { Outlook } from '../store-calls/waiting.ts';
import type { AcquireOptions } from './acquire-options.ts';
import { LiveClaim } from './claim/live-claim.ts';
import type { Claimant } from './claim/state.ts';
import { type Loss, type LossReason, lostBy, MismatchError, QueueFullError } from './errors.ts';
import { Lease } from './lease.ts';
import type { OpenQueues } from './open-queues.ts';
import type { Services, Spec } from './services.ts';
import { type Subject, Waiter } from './waiter.ts';

/** Most local hand-offs while another process waits, and for how many ms. */
const BATCH = { count: 64, ms: 50 };

/**
 * How long it rests, in ms: in `ms`, nearly half of those who look ten times a second find the lock
 * free, and in `rivalMs` all of them. That is for `times` rests after it had to wait for another.
 * Without, a rest is up to half of `ms` shorter or longer, by chance: otherwise one who looks as
 * often as it rests could always find the lock taken.
 */
const REST = { ms: 40, rivalMs: 110, times: 3 };

/** Asked once. */
export const HOST: string = hostname();

/** Longest pause before a lost place in the queue is claimed again, in ms. */
const RECLAIM_MS = 25;

export class LocalQueue implements Claimant, Subject {
  readonly spec: Spec;
  isOpen = false;
  readonly #line = new Fifo<Waiter<Lease | null>>();
  #live: LiveClaim | undefined;
  lease: Lease | undefined;
  #issued = 0;
  /** Asks the store for waiters once it has held for so long. */
  #askAfterMs: number = BATCH.ms;
  /** The first hand-off while another may wait: its time, and the leases issued before it. */
  #batch: { readonly since: number; readonly issued: number } | undefined;
  #resting = false;
  /** How many more rests are of `rivalMs`. */
  #rivals = 0;
  readonly #services: Services;
  readonly #open: OpenQueues<LocalQueue>;

  constructor(services: Services, spec: Spec, open: OpenQueues<LocalQueue>) {
    this.#services = services;
    this.spec = spec;
    this.#open = open;
  }

  /** Resolves with null if `waits` is false and the lock is not free. */
  join(options: AcquireOptions, waits: boolean): Promise<Lease | null> {
    if (!waits) {
      if (this.#live?.check()) return Promise.resolve(null);
      // Our own unanswered or ungranted claim does not prove that another holds: claim apart.
      if (this.#live || this.#line.first) {
        const spec = { ...this.spec, key: undefined };
        return new LocalQueue(this.#services, spec, this.#open).join(options, waits);
      }
    }
    return new Promise((resolve, reject) => {
      const parts = { subject: this, options, tries: !waits, resolve, reject };
      this.#line.push(new Waiter(this.#services, parts));
      if (!this.#live) this.#claimIfWanted();
    });
  }

  leave(waiter: Waiter<Lease | null>): void {
    this.#line.remove(waiter);
    this.#leaveIfIdle();
  }

  granted(now: number): void {
    this.#issued = this.spec.nth ?? 0;
    this.#askAfterMs = BATCH.ms;
    if (this.#services.calls.store.traits.queue) this.#batch = undefined;
    const { state } = this.#live ?? {};
    if (state?.at === 'held' && state.grant.queued) this.#rivals = REST.times;
    this.#leaseOut(now);
  }

  gone(status: GoneStatus): void {
    const { resource, kind } = this.spec;
    const { why, detail } = status;
    const tried = this.#live?.claim.queue === false;
    this.#live = undefined;
    if (why === 'refused' && tried) this.#refused(status);
    else if (why === 'mismatch') {
      this.rejectAll(new MismatchError(resource, detail ?? 'another kind is in its queue'));
      this.#services.events.emit('mismatch', { resource, kind, detail: detail ?? '' });
    } else if (why === 'full') this.rejectAll(new QueueFullError(resource, detail ?? 'full'));
    else if (why === 'evicted' || this.spec.entering) this.rejectAll(lostBy(resource, status));
    // The place in the queue is lost; a short pause avoids a busy loop on a broken store.
    else this.#claimIn(this.#services.clock.random() * RECLAIM_MS);
  }

  failed(error: StoreError): void {
    const tried = this.#live?.claim.queue === false;
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
    if (!this.#live) this.#claimIfWanted();
  }

  handOn(now: number, afterMs: number): Promise<void> | undefined {
    this.lease = undefined;
    // The limit was this lease's; the next one sets its own.
    this.#live?.deadline.limit(Number.POSITIVE_INFINITY);
    if (!this.#line.first || !this.#mayPass(now)) return this.#giveUp(afterMs, now);
    this.#services.loop.run((at) => this.#passOn(at), now);
    return undefined;
  }

  outlook(): Outlook {
    const { state, deadline } = this.#live ?? {};
    const status = state?.at === 'waiting' ? state.status : undefined;
    return { status, failure: deadline?.doubt?.cause };
  }

  get waiters(): readonly Waiter<Lease | null>[] {
    return this.#line.all();
  }

  rejectAll(error: unknown): void {
    for (let waiter = this.#line.shift(); waiter; waiter = this.#line.shift()) waiter.reject(error);
    this.#leaveIfIdle();
  }

  /** Ends the hold, if there is one, without giving the claim back. */
  lose(reason: LossReason): void {
    this.#live?.lose({ reason });
  }

  /** Claims for the first waiter; without one, the queue is no longer open. */
  #claimIfWanted(): void {
    const { first } = this.#line;
    if (!first) this.#open.remove(this);
    else if (!this.#resting) this.#claim(first);
  }

  #claim({ tries, options }: Waiter<Lease | null>): void {
    const { resource, kind, permits, limit, ttlMs, minHoldMs } = this.spec;
    this.#open.add(this);
    const { label = this.#services.settings.label, standby } = options;
    const who = { host: HOST, pid: process.pid, since: Date.now() };
    const labelled = label === undefined ? who : { ...who, label };
    const claim: Claim = {
      resource,
      id: randomId(),
      secret: randomId(),
      kind,
      permits,
      limit,
      ttlMs: Math.max(ttlMs, minHoldMs),
      queue: !tries,
      holder: standby ? { ...labelled, mark: CANDIDATE } : labelled,
    };
    this.#live = new LiveClaim(this.#services, claim, this);
  }

  /** Gives the first waiter a lease on the claim that is held. */
  #leaseOut(now: number): void {
    const live = this.#live;
    if (live?.state.at !== 'held') return;
    const waiter = this.#line.shift();
    if (!waiter) return this.#leaveIfIdle();
    const { maxHoldMs } = this.spec;
    if (maxHoldMs !== undefined) live.deadline.limit(now + maxHoldMs);
    const { grant } = live.state;
    const { acquisition } = waiter.options;
    const nth = this.#issued++;
    const before = this.spec.nth === undefined ? 'released' : 'handed-over';
    const lease = new Lease({ live, grant, nth, before, since: now, acquisition });
    this.lease = lease;
    // First, because a listener may abort the wait.
    waiter.resolve(lease);
    lease.announce();
    // Last, because it may find that the process stood still meanwhile.
    if (maxHoldMs !== undefined) live.awaitDeadline();
  }

  /** Where the store shows no waiters, the end of a batch also begins the rest. */
  #mayPass(now: number): boolean {
    const { state, claim } = this.#live ?? {};
    // A write lock may have become a read lock.
    if (claim?.kind !== this.spec.kind || state?.at !== 'held') return false;
    const { queue } = this.#services.calls.store.traits;
    if (state.waiters === 0 && queue) this.#batch = undefined;
    else {
      this.#batch ??= { since: now, issued: this.#issued };
      const { since, issued } = this.#batch;
      const many = this.#issued - issued >= BATCH.count && state.waiters + this.#rivals > 0;
      if (many || now - since > BATCH.ms) {
        if (!queue) this.#rest();
        return false;
      }
    }
    return this.#issued < STEP;
  }

  /** The hand-off inside the process. */
  #passOn(now: number): void {
    // While this was parked, the claim may have been lost and another begun.
    if (this.#live?.state.at !== 'held' || this.lease) return;
    if (!this.#live.deadline.fresh(now)) return void this.#giveUp();
    this.#leaseOut(now);
    this.#askForWaiters(now);
  }

  /** Asks by a heartbeat, and again when it has held for twice as long: a few times in a TTL. */
  #askForWaiters(now: number): void {
    const live = this.#live;
    if (live?.state.at !== 'held' || live.state.waiters > 0) return;
    const heldMs = now - live.state.since;
    if (heldMs < this.#askAfterMs || !this.#services.calls.store.traits.queue) return;
    this.#askAfterMs = 2 * heldMs;
    detached(() => live.beat());
  }

  #giveUp(afterMs = 0, now?: number): Promise<void> | undefined {
    const left = this.#live?.release(afterMs, now);
    this.#live = undefined;
    this.#claimIfWanted();
    return left;
  }

  #rest(): void {
    const { clock } = this.#services;
    const restMs = this.#rivals > 0 ? REST.rivalMs : REST.ms * (0.5 + clock.random());
    this.#rivals = Math.max(0, this.#rivals - 1);
    this.#resting = true;
    this.#batch = undefined;
    this.#claimIn(restMs);
  }

  #claimIn(ms: number): void {
    this.#services.clock.setTimeout(() => {
      this.#resting = false;
      if (!this.#live) this.#claimIfWanted();
    }, ms);
  }

  #leaveIfIdle(): void {
    if (!this.#line.first && !this.lease) void this.#giveUp();
  }

  #refused(status: GoneStatus): void {
    const { quarantineMs } = status;
    this.#settleTry((waiter) => {
      waiter.options.refused?.(status);
      waiter.resolve(null);
    });
    // Last, because a listener may do anything.
    if (quarantineMs === undefined) return;
    const { calls, events } = this.#services;
    const { resource } = this.spec;
    events.emit('quarantine', { store: calls.store.name, resource, leftMs: quarantineMs });
  }

  /** Later waiters, also those after an aborted try, go on waiting. */
  #settleTry(settle: (waiter: Waiter<Lease | null>) => void): void {
    const { first } = this.#line;
    if (first?.tries) {
      this.#line.remove(first);
      settle(first);
    }
    this.#claimIfWanted();
  }
}
