/** A claim of this process in a queue of etcd, and what is known of its place there. */
import type { Claim, ClaimStatus, Takeover } from '../../contract/store.ts';
import { InformedClaim } from '../informed-claim.ts';
import type { KeySpace } from './keys.ts';
import type { Lease, Note, Occupant } from './lease.ts';
import { noteOf, type Place, type QueueView } from './queue.ts';

/** The end of a claim whose release failed: its lease lives on for others. */
export const RELEASED: number = Number.NEGATIVE_INFINITY;

interface Beginning {
  readonly keys: KeySpace;
  readonly lease: Lease;
  readonly until: number;
}

export class OwnClaim extends InformedClaim implements Occupant {
  readonly claim: Claim;
  readonly key: string;
  readonly lease: Lease;
  readonly #noteKey: string;
  until: number;
  /** Its token, once it holds. */
  number = 0n;
  takeover: Takeover | undefined;
  /** The claim right before it when it came to wait. */
  before: Place | undefined;
  /** There is a note on an older hold, which would be wrong for the next one. */
  noted = false;

  constructor(claim: Claim, { keys, lease, until }: Beginning) {
    super();
    this.claim = claim;
    this.key = keys.claim(claim.resource, claim.id);
    this.#noteKey = keys.note(claim.resource);
    this.lease = lease;
    this.until = until;
  }

  /** A released claim needs none: a living lease already means a release. */
  get death(): Note | undefined {
    if (!this.held || this.until === RELEASED) return undefined;
    return { key: this.#noteKey, value: noteOf({ reason: 'expired', token: this.number }) };
  }

  /** The hold before it has ended so, perhaps with a note. */
  succeed(ended: Takeover | undefined): void {
    this.takeover = ended;
    this.noted = true;
  }

  /** At most the requested ttl, even if its lease has more: the claim is deleted then. */
  leftMs(at: number): number {
    return Math.max(0, Math.min(this.claim.ttlMs, this.until - at, this.lease.deadline - at));
  }

  /** Its status in this queue, counted from `at`; undefined: it is not there. */
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
    // The first waiter waits for any holder, another one for the claim before.
    const before = view.places.slice(index === view.admitted ? 0 : index - 1, index);
    const retryInMs = Math.min(...before.map(({ lastsMs }) => lastsMs ?? this.claim.ttlMs));
    return { state: 'waiting', why: 'queue', ahead: index, retryInMs, ...common };
  }
}
