/**
 * Heartbeats keep the leases alive, and look for the keys.
 *
 * A live lease is not enough: a key may have been deleted while its lease lives on for others.
 */

import type { KeyValue, Txn } from '../../../clients/etcd/client.ts';
import { EXPIRED } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus } from '../../../contract/store.ts';
import { each, errorStatus } from '../../each.ts';
import { grouped } from '../../grouped.ts';
import type { EtcdLease } from '../lease.ts';
import { type EtcdPlace, type EtcdView, placeOf } from '../places.ts';
import { firstIn, reading, readQueue, viewIn } from '../reading.ts';
import { apart, together } from '../together.ts';
import type { EtcdParts } from './parts.ts';
import { standing } from './standing.ts';
import { epitaph } from './tombstones.ts';

export async function renewAll(parts: EtcdParts, claims: readonly Claim[]): Promise<ClaimStatus[]> {
  const sentAt = parts.clock.now();
  await prolongAll(parts, claims, sentAt);
  const [looks, lives] = await Promise.all([lookFor(parts, claims), confirmAll(parts, claims)]);
  const tombstones = await tombstonesOf(
    parts,
    claims.filter((_, i) => looks[i] === undefined),
  );
  return each(claims, async (claim, i) => {
    const look = looks[i];
    const own = parts.own.find(claim);
    if (!look) {
      if (own) parts.own.forget(own);
      return epitaph(tombstones.get(claim.id));
    }
    const life = own && !look.place?.sealed ? lives.get(own.lease) : true;
    if (life === false) return EXPIRED;
    if (life !== true) return errorStatus(life);
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

interface EtcdLook {
  readonly place: EtcdPlace | undefined;
  readonly view: EtcdView;
}

/** Undefined for a claim whose key is missing. */
async function lookFor(
  parts: EtcdParts,
  claims: readonly Claim[],
): Promise<readonly (EtcdLook | undefined)[]> {
  const { client, keys } = parts;
  const groups = [...grouped(claims, ({ resource }) => resource)].map(([resource, some]) => {
    const [{ id, kind } = { id: '', kind: undefined }] = some;
    const one = some.length === 1;
    const key = keys.claim(resource, id);
    const read = reading(keys, resource, one ? kind : undefined);
    const txn: Txn = { success: one ? [read, { range: { key } }] : [read] };
    return { resource, kind: one ? kind : undefined, txn };
  });
  const reply = await client.txn(together(groups.map(({ txn }) => txn)));
  const outcomes = apart(reply, groups.length);
  const looks = new Map<string, EtcdLook & { readonly own: EtcdPlace | undefined }>();
  for (const [i, { resource, kind }] of groups.entries()) {
    const answers = outcomes[i]?.answers ?? [];
    const view =
      viewIn(answers[0], { keys, resource, kind }) ??
      (await readQueue(client, keys, resource)).view;
    const kv = firstIn(answers[1]);
    looks.set(resource, { view, place: undefined, own: kv && placeOf(kv) });
  }
  return claims.map(({ resource, id }) => {
    const look = looks.get(resource);
    const key = keys.claim(resource, id);
    const own = look?.own?.id === key ? look.own : undefined;
    const place = look?.view.at(key) ?? own;
    return look && place && { view: look.view, place };
  });
}

/** For each lease: whether it lives, or why that is unknown. */
async function confirmAll(
  parts: EtcdParts,
  claims: readonly Claim[],
): Promise<ReadonlyMap<EtcdLease, unknown>> {
  const leases = new Set<EtcdLease>();
  for (const claim of claims) {
    const own = parts.own.find(claim);
    if (own) leases.add(own.lease);
  }
  const all = [...leases].map(async (lease) => {
    const life = await lease.confirm().catch((error: unknown) => error);
    return [lease, life] as const;
  });
  return new Map(await Promise.all(all));
}

async function tombstonesOf(
  { client, keys }: EtcdParts,
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, KeyValue>> {
  if (claims.length === 0) return new Map();
  const reply = await client.txn({
    success: claims.map(({ id }) => ({ range: { key: keys.tombstone(id) } })),
  });
  const found = claims.map(({ id }, i) => [id, firstIn(reply.answers[i])] as const);
  return new Map(found.filter((entry): entry is [string, KeyValue] => entry[1] !== undefined));
}
