/** The claims of this process, and the queues that it follows for them. */
import type { Clock, Timer } from '../../base/clock.ts';
import type { Claim, ClaimStatus, Wake } from '../../contract/store.ts';
import { ClaimWakes } from '../claim-wakes.ts';
import type { EtcdClient } from './client.ts';
import type { KeySpace } from './keys.ts';
import type { Lease } from './lease.ts';
import { OwnClaim } from './own-claim.ts';
import type { QueueView } from './queue.ts';
import { QueueWatch } from './queue-watch.ts';

/** A hold is followed after so long; most locks are not held so long. */
const HOLDS_MS = 10;
/** A queue is followed for so long after the last claim of this process has left it. */
const LINGER_MS = 5000;

/** How often abandoned claims are forgotten. */
const SWEEP_MS = 60_000;

interface Parts {
  readonly client: EtcdClient;
  readonly keys: KeySpace;
  readonly clock: Clock;
}

interface Followed {
  readonly watch: QueueWatch;
  readonly claims: Map<string, OwnClaim>;
  timer?: Timer;
}

export class OwnClaims {
  readonly #parts: Parts;
  readonly #byId = new Map<string, OwnClaim>();
  readonly #wakes = new ClaimWakes();
  readonly #followed = new Map<string, Followed>();
  #sweepAt = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  subscribe(claim: Claim, wake: Wake): AsyncDisposable {
    return this.#wakes.subscribe(claim, wake);
  }

  find(id: string): OwnClaim | undefined {
    return this.#byId.get(id);
  }

  add(claim: Claim, lease: Lease): OwnClaim {
    const { keys, clock } = this.#parts;
    const now = clock.now();
    if (now >= this.#sweepAt) this.#sweep(now);
    const own = new OwnClaim(claim, { keys, lease, until: now + claim.ttlMs });
    this.#byId.set(claim.id, own);
    lease.occupants.set(claim.id, own);
    return own;
  }

  /** It is about to be deleted, and needs no more news. */
  leave(own: OwnClaim): void {
    this.#byId.delete(own.claim.id);
    const followed = this.#followed.get(own.claim.resource);
    if (followed?.claims.delete(own.key) && followed.claims.size === 0) this.#linger(followed, own);
  }

  /** It surely is not there any more. */
  forget(own: OwnClaim): void {
    this.leave(own);
    own.lease.occupants.delete(own.claim.id);
  }

  watchOf(resource: string): QueueWatch | undefined {
    const watch = this.#followed.get(resource)?.watch;
    return watch?.open ? watch : undefined;
  }

  /** Follows at once for waiters, soon for holders. */
  follow(own: OwnClaim, now: boolean): void {
    if (now || this.#followed.has(own.claim.resource)) this.#follow(own);
    else if (this.#wakes.has(own.claim)) {
      const later = (): void => {
        if (this.#byId.get(own.claim.id) === own) this.#follow(own);
      };
      this.#parts.clock.setTimeout(later, HOLDS_MS).unref();
    }
  }

  close(): void {
    for (const { watch, timer } of this.#followed.values()) {
      if (timer) this.#parts.clock.clearTimeout(timer);
      watch.stop();
    }
    this.#followed.clear();
  }

  /**
   * Forgets claims that have not been renewed for long. One that a living lease carries is kept:
   * its key has to be deleted before the lease is kept alive again.
   */
  #sweep(now: number): void {
    this.#sweepAt = now + SWEEP_MS;
    for (const own of this.#byId.values()) {
      if (own.until + SWEEP_MS < now && !own.lease.carries(own.claim.id)) this.forget(own);
    }
  }

  #follow(own: OwnClaim): void {
    const { resource } = own.claim;
    let followed = this.#followed.get(resource);
    if (!followed) {
      const claims = new Map<string, OwnClaim>();
      const wake = (told: OwnClaim, view?: QueueView): void => this.#wake(told, view);
      followed = { watch: new QueueWatch({ ...this.#parts, resource, own: claims, wake }), claims };
      this.#followed.set(resource, followed);
    }
    if (followed.timer) this.#parts.clock.clearTimeout(followed.timer);
    followed.claims.set(own.key, own);
    followed.watch.start();
    followed.watch.join(own);
  }

  #linger(followed: Followed, { claim: { resource } }: OwnClaim): void {
    const stop = (): void => {
      if (followed.claims.size > 0) return;
      followed.watch.stop();
      this.#followed.delete(resource);
    };
    followed.timer = this.#parts.clock.setTimeout(stop, LINGER_MS);
    followed.timer.unref();
  }

  #wake(own: OwnClaim, view: QueueView | undefined): void {
    const status: ClaimStatus | undefined = view && own.statusIn(view, this.#parts.clock.now());
    this.#wakes.wake(own.claim, status);
  }
}
