/** Downgrades and evictions; each compares with what was read. */

import type { Compare, Operation } from '../../../clients/etcd/client.ts';
import type { Claim, ClaimStatus } from '../../../contract/store.ts';
import { MOST_TRIES, tooBusy } from '../../consensus/outcomes.ts';
import { idIn } from '../layout.ts';
import { NOTE_MS } from '../lease.ts';
import type { EtcdParts } from '../own-claims.ts';
import { type EtcdPlace, noteOf, textOf } from '../places.ts';
import { readQueue } from '../reading.ts';
import { burial, standing } from './standing.ts';

const BUSY = 'Other requests kept changing the claim.';

export async function downgrade(parts: EtcdParts, claim: Claim): Promise<ClaimStatus | undefined> {
  const key = parts.keys.claim(claim.resource, claim.id);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const sentAt = parts.clock.now();
    const { view, revision } = await readQueue(parts, claim.resource);
    const index = view.find(key);
    const place = view.places[index];
    if (!place) return undefined;
    const done = place.kind !== 'write' || place.sealed || index >= view.admitted;
    if (done) return standing(parts, { claim, place, view, sentAt });
    const value = textOf(place, { kind: 'read', permits: 1 });
    await parts.client.txn({
      compare: [unchanged(key, revision)],
      success: [{ put: { key, value, lease: 'keep' } }],
    });
  }
  throw tooBusy(BUSY);
}

export interface EtcdEviction {
  readonly number: bigint;
  readonly reason: string;
  readonly now: boolean;
}

/** Ends the claim with this number: now, or with its ttl. */
export async function evict(
  parts: EtcdParts,
  resource: string,
  how: EtcdEviction,
): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { view, revision } = await readQueue(parts, resource);
    const index = view.places.findIndex(({ number }) => number === how.number);
    const place = view.places[index];
    if (!place) return false;
    const holds = index < view.admitted;
    if (place.sealed && !how.now) return true;
    const noted = view.admitted === 1 || view.waiters > 0;
    const success = await eviction(parts, { ...how, resource, place, holds, noted });
    const compare = [unchanged(place.id, revision)];
    const { succeeded } = await parts.client.txn({ compare, success });
    if (succeeded) return true;
  }
  throw tooBusy(BUSY);
}

interface EvictedPlace extends EtcdEviction {
  readonly resource: string;
  readonly place: EtcdPlace;
  readonly holds: boolean;
  /** A claim takes over, now or later. */
  readonly noted: boolean;
}

async function eviction(
  { keys, leases, client }: EtcdParts,
  { resource, place, holds, noted, reason, now }: EvictedPlace,
): Promise<Operation[]> {
  const ttlMs = place.ttlMs ?? (await client.timeToLive(place.lease));
  const { id: key } = place;
  if (holds && !now) {
    // A lease without heartbeats, which outlives what the holder may count on.
    const lease = await leases.ending(ttlMs);
    return [{ put: { key, lease, value: textOf(place, { sealed: 'evicted', detail: reason }) } }];
  }
  const lease = await leases.memo(Math.max(ttlMs, NOTE_MS));
  const note = { key: keys.note(resource), lease };
  const ended = noteOf({ reason: 'evicted', token: place.number });
  return [
    { delete: { key } },
    burial(keys.tombstone(idIn(key)), lease, 'evicted', reason),
    ...(holds && noted ? [{ put: { ...note, value: ended } }] : []),
  ];
}

function unchanged(key: string, revision: bigint): Compare {
  return { target: 'mod', is: '<', key, to: revision + 1n };
}
