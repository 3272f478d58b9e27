/** Downgrades and evictions; each compares with what was read. */
import type { Compare, Operation } from '../../../clients/etcd/client.ts';
import { temporaryFailure } from '../../../contract/errors.ts';
import type { Claim, ClaimStatus, Eviction } from '../../../contract/store.ts';
import { MOST_TRIES } from '../../consensus/terms.ts';
import { idIn } from '../layout.ts';
import { NOTE_MS } from '../lease.ts';
import type { EtcdParts } from '../own-claims.ts';
import { isOf, noteOf, textOf } from '../places.ts';
import { readQueue } from '../reading.ts';
import { burial, standing } from './standing.ts';

export const BUSY = 'Other requests kept changing the claim.';

export async function downgrade(parts: EtcdParts, claim: Claim): Promise<ClaimStatus | undefined> {
  const key = parts.own.keyOf(claim);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const sentAt = parts.clock.now();
    const { view, revision } = await readQueue(parts, claim.resource);
    const place = view.at(key);
    if (!place || !isOf(place, claim.id)) return undefined;
    const done = place.kind !== 'write' || place.sealed || !view.holds(key);
    if (done) return standing(parts, { claim, place, view, sentAt });
    const value = textOf(place, { kind: 'read', permits: 1 });
    await parts.client.txn({
      compare: [unchanged(key, revision)],
      success: [{ put: { key, value, lease: 'keep' } }],
    });
  }
  throw temporaryFailure(BUSY);
}

/** Ends the claim with this number: now, or with its ttl. */
export async function evict(
  parts: EtcdParts,
  resource: string,
  number: bigint,
  { reason, now }: Eviction,
): Promise<boolean> {
  const { client, keys, leases } = parts;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { view, revision } = await readQueue(parts, resource);
    const place = view.places.find((one) => one.number === number);
    if (!place) return false;
    if (place.sealed && place.sealed.why !== 'handed-over' && !now) return true;
    const { id: key, as = idIn(key) } = place;
    const holds = view.holds(key);
    const ttlMs = place.ttlMs ?? (await client.timeToLive(place.lease));
    const success: Operation[] = [];
    if (holds && !now) {
      // A lease without heartbeats, which outlives what the holder may count on.
      const lease = await leases.ending(ttlMs);
      const value = textOf(place, { sealed: 'evicted', detail: reason });
      success.push({ put: { key, lease, value } });
    } else {
      const lease = await leases.memo(Math.max(ttlMs, NOTE_MS));
      success.push({ delete: { key } });
      success.push(burial(keys.tombstone(as), lease, 'evicted', reason));
      // For the claim that takes over, now or later.
      const value = noteOf({ reason: 'evicted', token: number });
      const noted = holds && (view.admitted === 1 || view.waiters > 0);
      if (noted) success.push({ put: { key: keys.note(resource), lease, value } });
    }
    const { succeeded } = await client.txn({ compare: [unchanged(key, revision)], success });
    if (succeeded) return true;
  }
  throw temporaryFailure(BUSY);
}

/** True of a key that was deleted meanwhile, too. */
export function unchanged(key: string, revision: bigint): Compare {
  return { target: 'mod', is: '<', key, to: revision + 1n };
}
