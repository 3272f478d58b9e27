/** The claims of this process, and the queues that it follows for them. */
import { SharedTimer } from '../../base/shared-timer.ts';
import type { Claim } from '../../contract/store.ts';
import { OwnClaims } from '../consensus/own-claims.ts';
import { QueueWatch } from './following.ts';
import type { EtcdContext } from './layout.ts';
import type { EtcdLease } from './lease.ts';
import type { Leases } from './leases.ts';
import { EtcdClaim } from './own-claim.ts';
import { type EtcdPlace, type EtcdView, isOf } from './places.ts';

/** A hold is followed after this long; most locks are not held so long. */
const HOLDS_MS = 10;
/** How long a queue is followed after the last claim of this process has left it. */
const LINGER_MS = 5000;

/** How often abandoned claims are forgotten. */
const SWEEP_MS = 60_000;

export interface EtcdParts extends EtcdContext {
  readonly leases: Leases;
  readonly own: EtcdClaims;
  readonly maxWaiters: number;
}

export class EtcdClaims extends OwnClaims<EtcdClaim> {
  readonly #parts: EtcdContext;
  readonly #queues = new Map<string, QueueWatch>();
  /** For all who hold. */
  readonly #timer: SharedTimer;
  /** Keys without the claim's id, of holds that have passed on to claims of this process. */
  readonly #passed = new Map<string, string>();
  #sweepAt = 0;

  constructor(parts: EtcdContext) {
    super(parts.clock);
    this.#parts = parts;
    this.#timer = new SharedTimer(parts.clock);
  }

  /** `key` is that of its place: a hold that has passed on stays where it was. */
  add(claim: Claim, lease: EtcdLease, key: string = this.keyOf(claim)): EtcdClaim {
    const now = this.clock.now();
    if (now >= this.#sweepAt) this.#sweep(now);
    const { keys } = this.#parts;
    const own = new EtcdClaim(claim, { keys, lease, until: now + claim.ttlMs, key });
    if (key !== keys.claim(claim.resource, claim.id)) this.#passed.set(claim.id, key);
    this.byId.set(claim.id, own);
    lease.occupants.set(claim.id, own);
    return own;
  }

  /** The key of the claim's place, also for a release that is sent again. */
  keyOf({ resource, id }: Claim): string {
    return this.#passed.get(id) ?? this.#parts.keys.claim(resource, id);
  }

  /** The claim's place in this view, unless its hold has passed on to another. */
  placeIn(view: EtcdView, claim: Claim): EtcdPlace | undefined {
    const place = view.at(this.keyOf(claim));
    return place && isOf(place, claim.id) ? place : undefined;
  }

  /** It is about to be deleted, and needs no more wakes. */
  leave(own: EtcdClaim): void {
    this.byId.delete(own.claim.id);
    if (own.timer) this.#timer.delete(own.timer);
    const queue = this.#queues.get(own.claim.resource);
    if (queue?.claims.delete(own.key) && queue.claims.size === 0) this.#linger(queue, own);
  }

  /** It is certainly gone. */
  forget(own: EtcdClaim): void {
    this.leave(own);
    this.#passed.delete(own.claim.id);
    own.lease.occupants.delete(own.claim.id);
  }

  watchOf(resource: string): QueueWatch | undefined {
    const queue = this.#queues.get(resource);
    return queue?.open ? queue : undefined;
  }

  /** Follows at once for waiters, soon for holders. */
  follow(own: EtcdClaim, now: boolean): void {
    if (now || this.#queues.has(own.claim.resource)) this.#follow(own);
    else if (this.has(own.claim) && !own.timer) {
      own.timer = this.#timer.add(this.clock.now() + HOLDS_MS, () => this.#follow(own));
    }
  }

  close(): void {
    for (const queue of this.#queues.values()) {
      if (queue.timer) this.clock.clearTimeout(queue.timer);
      queue.stop();
    }
    this.#queues.clear();
  }

  /**
   * Forgets claims that have not been renewed for long. One that a living lease carries is kept:
   * its key has to be deleted before the lease is kept alive again.
   */
  #sweep(now: number): void {
    this.#sweepAt = now + SWEEP_MS;
    for (const own of this.byId.values()) {
      if (own.until + SWEEP_MS < now && !own.lease.carries(own.claim.id)) this.forget(own);
    }
    for (const id of this.#passed.keys()) if (!this.byId.has(id)) this.#passed.delete(id);
  }

  #follow(own: EtcdClaim): void {
    const { resource } = own.claim;
    const wake = (woken: EtcdClaim, changed: boolean): void => this.notify(woken, changed);
    const known = this.#queues.get(resource);
    const queue = known ?? new QueueWatch({ ...this.#parts, resource, wake });
    this.#queues.set(resource, queue);
    if (queue.timer) this.clock.clearTimeout(queue.timer);
    queue.claims.set(own.key, own);
    queue.start();
    queue.join(own);
  }

  #linger(queue: QueueWatch, { claim: { resource } }: EtcdClaim): void {
    const stop = (): void => {
      if (queue.claims.size > 0) return;
      queue.stop();
      this.#queues.delete(resource);
    };
    queue.timer = this.clock.setTimeout(stop, LINGER_MS);
    queue.timer.unref();
  }
}
