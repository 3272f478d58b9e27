/**
 * Claims as keys, with their terms as values, and notes on how holds ended.
 *
 * A place in the order is the create revision, which is the token. A key without terms of ours is a
 * lock of etcd's `concurrency` package: it has the whole resource, and waits for all before it.
 */
import type { KeyValue } from '../../clients/etcd/client.ts';
import { type Claim, type Kind, MAX_PERMITS, type Takeover } from '../../contract/store.ts';
import type { QueuePlace, QueueView } from '../consensus/queue-view.ts';
import {
  foreignLife,
  lifeOf,
  type PlaceLife,
  type PlaceTerms,
  termsIn,
} from '../consensus/terms.ts';
import { idIn } from './layout.ts';

export interface EtcdPlace extends QueuePlace, PlaceLife {
  /** Its key. */
  readonly id: string;
  /** Place in the order, and token. */
  readonly number: bigint;
  /** When it was last written: it is unchanged as long as this is. */
  readonly revision: bigint;
  readonly lease: bigint;
  /** The id that the hold has passed on to, if it has; else that of its key. */
  readonly as?: string | undefined;
}

/** The note is on how the last hold ended. */
export type EtcdView = QueueView<EtcdPlace, Takeover>;

interface EtcdTerms extends PlaceTerms {
  readonly kind: Kind;
  readonly permits: number;
  readonly limit: number;
  readonly as?: string | undefined;
}

/** The same claim with other terms, or sealed; a foreign one becomes a claim of ours. */
export function textOf(
  claim: Pick<Claim | EtcdPlace, 'kind' | 'permits' | 'limit' | 'ttlMs' | 'holder'> &
    Pick<EtcdPlace, 'as'>,
  changes: Partial<EtcdTerms> = {},
): string {
  const { kind, permits, limit, ttlMs: ttl = 0, holder, as } = claim;
  return JSON.stringify({ kind, permits, limit, ttl, holder, as, ...changes } satisfies EtcdTerms);
}

/** A claim as it will be read. */
export function newPlace(
  { kind, permits, limit, ttlMs: ttl, holder }: Claim,
  own: Pick<EtcdPlace, 'id' | 'number' | 'lease'>,
): EtcdPlace {
  const life = { revision: own.number, ...lifeOf({ ttl, holder }) };
  return { ...own, kind, permits, limit, ...life, admitted: false, foreign: false };
}

export function placeOf(kv: KeyValue): EtcdPlace {
  const { key: id, value, createRevision: number, modRevision: revision, lease } = kv;
  const own = { id, number, revision, lease, admitted: false };
  const terms = termsIn<EtcdTerms>(value, ['permits', 'limit', 'ttl']);
  if (terms) {
    const { kind, permits, limit, as } = terms;
    return { ...own, kind, permits, limit, as, ...lifeOf(terms), foreign: false };
  }
  const label = value === '' ? 'a lock of etcd' : value;
  const life = foreignLife({ host: 'etcd', pid: 0, label, since: 0 });
  const whole = { kind: 'mutex', permits: MAX_PERMITS, limit: MAX_PERMITS } as const;
  return { ...own, ...whole, ...life, foreign: true };
}

/** Whether it is the place of the claim with this id. */
export function isOf({ id: key, as = idIn(key) }: EtcdPlace, id: string): boolean {
  return as === id;
}

export function noteOf({ reason, token }: Takeover): string {
  return `${reason} ${token}`;
}

export function takeoverIn(note: string): Takeover | undefined {
  const [, reason, token] = /^(released|expired|evicted) (\d+)$/.exec(note) ?? [];
  if (!reason || !token) return undefined;
  return { reason: reason as Takeover['reason'], token: BigInt(token) };
}
