/**
 * A queue as a pure view of its keys.
 *
 * Invariant: the claims stand in the order of their create revisions, and those of the longest
 * prefix that fits are admitted (admission.ts). Only departures and downgrades change which claims
 * are before one, so an admitted claim stays so, and a look at those before is enough. A foreign
 * key is a lock of etcd's `concurrency` package: it has the whole resource, and waits for all
 * before it.
 * What would break it: two claims of one resource in one transaction, which share a revision.
 */
import { admissible, limitOf, type Standing, sameQueue } from '../../contract/admission.ts';
import {
  type Claim,
  type GoneStatus,
  type Holder,
  type Kind,
  MAX_PERMITS,
  type Takeover,
} from '../../contract/store.ts';
import type { KeyValue } from './client.ts';

export interface Place extends Standing {
  readonly key: string;
  /** Place in the order, and token. */
  readonly number: bigint;
  readonly lease: bigint;
  readonly ttlMs: number | undefined;
  /** For how long it stays without keep-alives; undefined: not known. */
  readonly lastsMs: number | undefined;
  readonly holder: Holder;
  /** Why it takes no more heartbeats. */
  readonly sealed: GoneStatus | undefined;
  readonly foreign: boolean;
}

interface Terms extends Partial<Seal> {
  readonly kind: Kind;
  readonly permits: number;
  readonly limit: number;
  readonly ttl: number;
  readonly holder: Holder;
}

export function textOf({ kind, permits, limit, ttlMs, holder }: Claim): string {
  return JSON.stringify({ kind, permits, limit, ttl: ttlMs, holder } satisfies Terms);
}

/** The same claim with other terms. */
export function valueWith(place: Place, terms: { kind: Kind; permits: number }): string {
  const { limit, ttlMs = 0, holder } = place;
  return JSON.stringify({ ...terms, limit, ttl: ttlMs, holder } satisfies Terms);
}

/** Why a claim takes no more heartbeats. */
export interface Seal {
  readonly sealed: 'unknown' | 'evicted';
  readonly detail?: string | undefined;
  /** For how long it stays, in ms; default its ttl. */
  readonly lasts?: number | undefined;
}

/** The same claim, sealed; a foreign one becomes a claim of ours. */
export function sealedValue(place: Place, seal: Seal): string {
  const { kind, permits, limit, ttlMs = 0, holder } = place;
  return JSON.stringify({ kind, permits, limit, ttl: ttlMs, holder, ...seal } satisfies Terms);
}

export function placeOf({ key, value, createRevision, lease }: KeyValue): Place {
  const terms = termsIn(value);
  const own = { key, number: createRevision, lease, admitted: false };
  if (!terms) {
    const label = value === '' ? 'a lock of etcd' : value;
    return {
      ...own,
      kind: 'mutex',
      permits: MAX_PERMITS,
      limit: MAX_PERMITS,
      foreign: true,
      ttlMs: undefined,
      lastsMs: undefined,
      sealed: undefined,
      holder: { host: 'etcd', pid: 0, label, since: 0 },
    };
  }
  const { kind, permits, limit, ttl, holder, sealed, detail, lasts = ttl } = terms;
  const gone: GoneStatus | undefined = sealed && {
    state: 'gone',
    why: sealed,
    ...(detail !== undefined && { detail }),
  };
  const lives = { ttlMs: ttl, lastsMs: lasts, sealed: gone };
  return { ...own, kind, permits, limit, holder, ...lives, foreign: false };
}

function termsIn(value: string): Terms | undefined {
  if (!value.startsWith('{')) return undefined;
  try {
    const terms = JSON.parse(value) as Terms;
    const numbers = [terms.permits, terms.limit, terms.ttl];
    return numbers.every(Number.isFinite) && typeof terms.holder?.host === 'string'
      ? terms
      : undefined;
  } catch {
    return undefined;
  }
}

/** The oldest places of a queue, in order, and how many there are. */
export class QueueView {
  readonly places: readonly Place[];
  readonly total: number;
  /** How the last hold ended, if that is noted. */
  readonly ended: Takeover | undefined;
  /** How many are admitted; all of them are known if one is known that is not. */
  readonly admitted: number;

  constructor(places: readonly Place[], total: number, ended?: Takeover) {
    this.places = places;
    this.total = total;
    this.ended = ended;
    this.admitted = admissible(places);
  }

  /** Whether this view is enough for a claim of this kind. */
  knows(kind: Kind): boolean {
    const exclusive = kind === 'mutex' || kind === 'write';
    return this.places.length === this.total || exclusive || this.admitted < this.places.length;
  }

  find(key: string): number {
    return this.places.findIndex((place) => place.key === key);
  }

  get waiters(): number {
    return this.total - this.admitted;
  }

  /** The limit in force for this place, if it is another's. */
  limitAt(index: number): number | undefined {
    const own = this.places[index]?.limit ?? 0;
    const limit = limitOf(this.places.slice(0, this.admitted));
    return limit < own ? limit : undefined;
  }

  /** Whether a claim at the end would be admitted. */
  admits(claim: Claim): boolean {
    const all = [...this.places, { ...claim, admitted: false }];
    return admissible(all) === all.length;
  }

  /** The status for a claim whose kind cannot stand in this queue. */
  misfit(kind: Kind, key: string): GoneStatus | undefined {
    const first = this.places.find((place) => place.key !== key && !place.foreign);
    if (!first || sameQueue(first.kind, kind)) return undefined;
    return { state: 'gone', why: 'mismatch', detail: `its queue holds ${first.kind} claims` };
  }
}

export function noteOf({ reason, token }: Takeover): string {
  return `${reason} ${token}`;
}

export function takeoverIn(note: string): Takeover | undefined {
  const [, reason, token] = /^(released|expired|evicted) (\d+)$/.exec(note) ?? [];
  return reason && token
    ? { reason: reason as Takeover['reason'], token: BigInt(token) }
    : undefined;
}

/** How a departed place's hold ended, unless it was released at once. */
export function endOf({ sealed }: Place): Takeover['reason'] {
  if (sealed?.why === 'evicted') return 'evicted';
  return sealed ? 'released' : 'expired';
}
