/**
 * Heartbeats keep the leases alive, and look for the keys.
 *
 * A live lease is not enough: a key may have been deleted while its lease lives on for others.
 */
import type { Txn } from '../../../clients/etcd/client.ts';
import { EXPIRED } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, GoneStatus } from '../../../contract/store.ts';
import { each, grouped } from '../../batch.ts';
import type { EtcdLease } from '../lease.ts';
import type { EtcdParts } from '../own-claims.ts';
import { isOf, placeOf } from '../places.ts';
import { firstIn, queueIn, reading } from '../reading.ts';
import { sendTogether } from '../together.ts';
import { epitaph, type FoundPlace, standing } from './standing.ts';

export async function renewAll(parts: EtcdParts, claims: readonly Claim[]): Promise<ClaimStatus[]> {
  const sentAt = parts.clock.now();
  await prolongAll(parts, claims, sentAt);
  const leases = claims.map((claim) => parts.own.find(claim)?.lease);
  const [looks, lives] = await Promise.all([
    lookFor(parts, claims),
    Promise.allSettled(leases.map((lease) => lease?.confirm())),
  ]);
  const missing = claims.filter((_, i) => looks[i] === undefined);
  const epitaphs = await epitaphsOf(parts, missing);
  return each(claims, async (claim, i) => {
    const look = looks[i];
    const own = parts.own.find(claim);
    if (!look) {
      if (own) parts.own.forget(own);
      return epitaphs.get(claim.id) ?? EXPIRED;
    }
    const life = own?.lease === leases[i] && !look.place?.sealed ? lives[i] : undefined;
    if (life?.status === 'rejected') throw life.reason;
    if (life?.value === false) return EXPIRED;
    if (!own && look.place && !look.place.sealed) await parts.leases.keepAlive(look.place.lease);
    return standing(parts, { claim, ...look, sentAt });
  });
}

/** Before their leases are renewed: claims that come too late are deleted then. */
async function prolongAll(parts: EtcdParts, claims: readonly Claim[], now: number): Promise<void> {
  const late = new Set<EtcdLease>();
  for (const claim of claims) {
    const own = parts.own.find(claim);
    if (own && own.until <= now) late.add(own.lease);
    else if (own) own.until = now + claim.ttlMs;
  }
  await Promise.all([...late].map((lease) => lease.clear(now)));
}

type EtcdLook = Pick<FoundPlace, 'place' | 'view'>;

/** Undefined for a claim whose key is missing. */
async function lookFor(
  parts: EtcdParts,
  claims: readonly Claim[],
): Promise<readonly (EtcdLook | undefined)[]> {
  const { client, keys } = parts;
  const groups = [...grouped(claims, ({ resource }) => resource)].map(([resource, some]) => {
    return { resource, only: some.length === 1 ? some[0] : undefined };
  });
  const txns = groups.map(({ resource, only }): Txn => {
    const read = reading(keys, resource, only?.kind);
    const own = only && { range: { key: parts.own.keyOf(only) } };
    return { success: own ? [read, own] : [read] };
  });
  const { outcomes } = await sendTogether(client, txns);
  const looks = new Map<string, EtcdLook>();
  for (const [i, { resource, only }] of groups.entries()) {
    const [answer, own] = outcomes[i]?.answers ?? [];
    const view = await queueIn(parts, answer, { resource, kind: only?.kind });
    const kv = firstIn(own);
    looks.set(resource, { view, place: kv && placeOf(kv) });
  }
  return claims.map((claim) => {
    const look = looks.get(claim.resource);
    const place = look?.view.at(parts.own.keyOf(claim)) ?? look?.place;
    return look && place && isOf(place, claim.id) ? { view: look.view, place } : undefined;
  });
}

/** What the tombstones of these claims say, by their ids. */
async function epitaphsOf(
  { client, keys }: EtcdParts,
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, GoneStatus>> {
  if (claims.length === 0) return new Map();
  const { answers } = await client.txn({
    success: claims.map(({ id }) => ({ range: { key: keys.tombstone(id) } })),
  });
  return new Map(claims.map(({ id }, i) => [id, epitaph(firstIn(answers[i]))]));
}
