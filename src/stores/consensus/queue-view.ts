/**
 * A queue as a pure view of what a consensus service has agreed upon: keys of etcd in the order of
 * their create revisions, nodes of ZooKeeper in the order of the numbers in their names.
 *
 * Invariant: the claims of the longest prefix that fits are admitted (admission.ts). Only
 * departures and downgrades change which claims are before one, so an admitted claim stays so, and
 * an old view is never wrong, only incomplete. Foreign claims are those of other programs, which
 * order and admit their own in the same way: each takes the whole resource, and waits for all
 * before it. A claim of another kind than the queue's is about to leave by itself, because it sees
 * the same view. Until then no claim gets past it: if it were left out, it would come in again as
 * the first of another kind, and the claims that got past would not fit there.
 * What would break it: two claims in one place of the order.
 */
import { admissible, limitOf, type Standing, sameQueue } from '../../contract/admission.ts';
import { mismatch } from '../../contract/gone.ts';
import type { Claim, GoneStatus, Kind, Member, Queue } from '../../contract/store.ts';

export interface QueuePlace extends Standing {
  /** The same at each attempt of a claim; undefined for a foreign one without it. */
  readonly id: string | undefined;
  readonly foreign: boolean;
}

interface Facts<N> {
  /** Default: the places are all. */
  readonly total?: number;
  /** The kind of the queue. Default: that of the first place. */
  readonly kind?: Kind | undefined;
  /** How the last hold ended, as far as that is noted. */
  readonly note?: N | undefined;
}

/** Up to this length, a search is linear. */
const SHORT = 8;

export class QueueView<P extends QueuePlace = QueuePlace, N = unknown> {
  /** The oldest ones, in order. */
  readonly places: readonly P[];
  readonly total: number;
  readonly note: N | undefined;
  /** How many are admitted; all of them are known if one is known that is not. */
  readonly admitted: number;
  readonly #kind: Kind | undefined;
  #limit: number | undefined;
  #indices: ReadonlyMap<string | undefined, number> | undefined;

  constructor(
    places: readonly P[],
    { total = places.length, kind = places[0]?.kind, note }: Facts<N> = {},
  ) {
    this.places = places;
    this.total = total;
    this.note = note;
    this.#kind = kind;
    const odd = places.findIndex((place) => !place.foreign && this.misfit(place.kind));
    this.admitted = admissible(odd < 0 ? places : places.slice(0, odd));
  }

  /** -1: it is not among them. */
  find(id: string): number {
    if (this.places.length <= SHORT) return this.places.findIndex((place) => place.id === id);
    this.#indices ??= new Map(this.places.map((place, index) => [place.id, index]));
    return this.#indices.get(id) ?? -1;
  }

  at(id: string): P | undefined {
    return this.places[this.find(id)];
  }

  /** The place of this claim if it is admitted. */
  holder(id: string): P | undefined {
    const index = this.find(id);
    return index < this.admitted ? this.places[index] : undefined;
  }

  holds(id: string): boolean {
    return this.holder(id) !== undefined;
  }

  get waiters(): number {
    return this.total - this.admitted;
  }

  /** Few claims that keep this one waiting for as long as they stay; empty: none is known. */
  barring(waiter: P): readonly P[] {
    const index = this.places.indexOf(waiter);
    if (index < this.admitted) return [];
    const largest = this.places.slice(0, index).sort((a, b) => b.permits - a.permits);
    let { permits: used, limit } = waiter;
    const last = largest.findIndex((place) => {
      used += place.permits;
      limit = Math.min(limit, place.limit);
      return used > limit;
    });
    return largest.slice(0, last + 1);
  }

  /** The limit in force for a claim with this one, if it is another's. */
  limitFor(own: number): number | undefined {
    this.#limit ??= limitOf(this.places.slice(0, this.admitted));
    return this.#limit < own ? this.#limit : undefined;
  }

  /** Whether a claim at the end would be admitted. */
  admits(claim: Claim): boolean {
    if (this.waiters > 0 || this.misfit(claim.kind)) return false;
    const all = [...this.places, { ...claim, admitted: false }];
    return admissible(all) === all.length;
  }

  /** The status for a claim whose kind cannot stand in this queue. */
  misfit(kind: Kind): GoneStatus | undefined {
    if (this.#kind === undefined || sameQueue(this.#kind, kind)) return undefined;
    return mismatch(this.#kind);
  }

  /** For people; a member for each place. */
  shown(resource: string, members: readonly Member[]): Queue {
    return {
      resource,
      limit: members.length > 0 ? limitOf(this.places) : undefined,
      holders: members.slice(0, this.admitted),
      waiters: members.slice(this.admitted),
    };
  }
}
