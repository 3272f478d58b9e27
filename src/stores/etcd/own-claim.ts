/** A claim of this process in a queue of etcd, and what it has been told of its place there. */
import type { Claim, ClaimStatus, Takeover } from '../../store.ts';
import { InformedClaim } from '../informed-claim.ts';
import type { Lease, Occupant } from './leases.ts';
import type { Place, QueueView } from './queue.ts';

export class OwnClaim extends InformedClaim implements Occupant {
  readonly claim: Claim;
  readonly key: string;
  readonly lease: Lease;
  until: number;
  /** Its token, once it holds. */
  number = 0n;
  takeover: Takeover | undefined;
  /** Who stood right before it when it came to wait. */
  before: Place | undefined;
  /** There is a note on an older hold, which would be wrong for the next one. */
  noted = false;

  constructor(claim: Claim, { key, lease, until }: Occupant & { readonly lease: Lease }) {
    super();
    this.claim = claim;
    this.key = key;
    this.lease = lease;
    this.until = until;
  }

  /** It waited for a hold that has ended so, which may be noted. */
  succeed(ended: Takeover | undefined): void {
    this.takeover = ended;
    this.noted = true;
  }

  /** Never more than was asked for, whatever its lease has: then it is over, and deleted. */
  leftMs(at: number): number {
    return Math.max(0, Math.min(this.claim.ttlMs, this.until - at, this.lease.deadline - at));
  }

  /** What the queue says about it, counted from `at`; undefined: it is not there. */
  statusIn(view: QueueView, at: number): ClaimStatus | undefined {
    const index = view.find(this.key);
    const place = view.places[index];
    if (!place) return undefined;
    if (place.sealed) return place.sealed;
    const limit = view.limitAt(index);
    const common = {
      leftMs: this.leftMs(at),
      ...(limit !== undefined && { limit }),
    };
    if (index < view.admitted) {
      this.number = place.number;
      const { waiters } = view;
      const { takeover } = this;
      const held = { state: 'held', token: place.number, waiters, ...common } as const;
      return takeover ? { ...held, takeover } : held;
    }
    // The first waiter waits for a holder to go, another one for the one before.
    const before = view.places.slice(index === view.admitted ? 0 : index - 1, index);
    const retryInMs = Math.min(...before.map(({ lastsMs }) => lastsMs ?? this.claim.ttlMs));
    return { state: 'waiting', why: 'queue', ahead: index, retryInMs, ...common };
  }
}
