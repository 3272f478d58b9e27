/**
 * A queue as a pure view of its children.
 *
 * Invariant: the claims stand in the order of the numbers that the server gave them, and those of
 * the longest prefix that fits are admitted (admission.ts). Only departures and downgrades change
 * which claims are before one, so an admitted claim stays so, and an old list is never wrong, only
 * incomplete. Curator orders and admits its own in the same way.
 * A claim whose kind is not that of the first in the queue is about to leave by itself, because it
 * has seen the same. Until then no claim gets past it: if it were left out, it would come in again
 * as the first of another kind, and the claims that got past would not fit there.
 * What would break it: numbers that overflow. Queues that Curator may share are closed long before;
 * those of permits are ordered by the transactions that made their nodes then (listing.ts).
 */
import { admissible, limitOf, sameQueue } from '../../contract/admission.ts';
import type { Claim, GoneStatus, Kind } from '../../contract/store.ts';
import type { Place } from './nodes.ts';

/** The least length of a note, except for a release. */
export const LONG_NOTE = 64;

/** Up to this length, a search is linear. */
const SHORT = 8;

/** What the stat of a queue's node says of the note in it. */
export interface NoteFacts {
  /** 0: there is none. */
  readonly length: number;
  /** It grows with each note, and when one is taken back. */
  readonly version: number;
  /** No claim came or went after it. */
  readonly latest: boolean;
}

const NO_NOTE: NoteFacts = { length: 0, version: 0, latest: false };

export class QueueView {
  readonly places: readonly Place[];
  /** How many are admitted. */
  readonly admitted: number;
  readonly note: NoteFacts;
  readonly #kind: Kind | undefined;
  #limit: number | undefined;
  #indices: ReadonlyMap<string | undefined, number> | undefined;
  #names: ReadonlyMap<string, Place> | undefined;

  /** In order. */
  constructor(places: readonly Place[], note: NoteFacts = NO_NOTE) {
    this.#kind = places[0]?.kind;
    this.places = places;
    this.note = note;
    const odd = places.findIndex(({ kind, foreign }) => !foreign && this.misfit(kind));
    this.admitted = admissible(odd < 0 ? places : places.slice(0, odd));
  }

  /** The note is on an eviction. */
  get evicted(): boolean {
    return this.note.length >= LONG_NOTE;
  }

  /** This name, parsed. */
  named(name: string): Place | undefined {
    this.#names ??= new Map(this.places.map((place) => [place.name, place]));
    return this.#names.get(name);
  }

  find(uuid: string): number {
    if (this.places.length <= SHORT) return this.places.findIndex((place) => place.uuid === uuid);
    this.#indices ??= new Map(this.places.map((place, index) => [place.uuid, index]));
    return this.#indices.get(uuid) ?? -1;
  }

  get waiters(): number {
    return this.places.length - this.admitted;
  }

  /** The limit in force for this place, if it is another's. */
  limitAt(index: number): number | undefined {
    const own = this.places[index]?.limit ?? 0;
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
    return { state: 'gone', why: 'mismatch', detail: `its queue holds ${this.#kind} claims` };
  }
}
