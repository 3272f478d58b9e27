/** A claim of this process in a queue of etcd. */
import type { TimeLimit } from '../../base/shared-timer.ts';
import type { Claim, Takeover } from '../../contract/store.ts';
import { OwnClaim } from '../consensus/own-claims.ts';
import type { KeySpace } from './layout.ts';
import type { EtcdLease, EtcdNote, Occupant } from './lease.ts';
import { type EtcdPlace, type EtcdView, noteOf } from './places.ts';

/** The end of a claim whose release failed: its lease lives on for others. */
export const RELEASED: number = Number.NEGATIVE_INFINITY;

export class EtcdClaim extends OwnClaim implements Occupant {
  readonly lease: EtcdLease;
  readonly #noteKey: string;
  protected override retryInMs: number;
  /** The claim right before it when it came to wait. */
  before: EtcdPlace | undefined;
  /** There is a note on an older hold, which would be wrong for the next one. */
  noted = false;
  /** Until its queue is followed. */
  timer: TimeLimit | undefined;

  constructor(
    claim: Claim,
    { keys, lease, until, key }: { keys: KeySpace; lease: EtcdLease; until: number; key: string },
  ) {
    super(claim, key, until);
    this.#noteKey = keys.note(claim.resource);
    this.lease = lease;
    this.retryInMs = claim.ttlMs;
  }

  get key(): string {
    return this.id;
  }

  /** A released claim needs none: a living lease already means a release. */
  get death(): EtcdNote | undefined {
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

  override see(view: EtcdView): boolean {
    const index = view.find(this.id);
    const place = view.places[index];
    const { ttlMs } = this.claim;
    // The first waiter waits for any holder, another one for the claim before.
    const before = view.places.slice(index === view.admitted ? 0 : index - 1, index);
    this.retryInMs = place ? Math.min(...before.map(({ lastsMs = ttlMs }) => lastsMs)) : ttlMs;
    this.sealed = place?.sealed;
    if (place && index < view.admitted) this.number = place.number;
    return super.see(view);
  }
}
