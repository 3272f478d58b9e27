/** Downgrades and evictions; each compares with what was read. */
import type { Compare, Operation } from '../../../clients/etcd/client.ts';
import { temporaryFailure } from '../../../contract/errors.ts';
import { EXPIRED } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, Eviction } from '../../../contract/store.ts';
import { MOST_TRIES } from '../../consensus/terms.ts';
import { idIn } from '../layout.ts';
import { NOTE_MS } from '../lease.ts';
import type { EtcdParts } from '../own-claims.ts';
import { type EtcdPlace, noteOf, textOf } from '../places.ts';
import { readQueue } from '../reading.ts';
import { renewAll } from './renew.ts';
import { burial, standing } from './standing.ts';

export const BUSY = 'Other requests kept changing the claim.';
/** A server compares 128 keys in one transaction, unless it is told otherwise. */
const MOST_COMPARED = 100;

export async function downgrade(parts: EtcdParts, claim: Claim): Promise<ClaimStatus> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const sentAt = parts.clock.now();
    const view = await readQueue(parts, claim.resource);
    const place = parts.own.placeIn(view, claim);
    if (!place) return (await renewAll(parts, [claim]))[0] ?? EXPIRED;
    const { id: key } = place;
    const done = place.kind !== 'write' || place.sealed || !view.holds(key);
    if (done) return standing(parts, { claim, place, view, sentAt });
    const value = textOf(place, { kind: 'read', permits: 1 });
    await parts.client.txn({
      compare: [unchanged(place)],
      success: [{ put: { key, value, lease: 'keep' } }],
    });
  }
  throw temporaryFailure(BUSY);
}

/**
 * Ends the claim with this number: now, or with its ttl. A waiter leaves at once unless its turn
 * may have come meanwhile: those that keep it waiting are compared, too.
 */
export async function evict(
  parts: EtcdParts,
  resource: string,
  number: bigint,
  { reason, now, waiting }: Eviction,
): Promise<boolean> {
  const { client, keys, leases } = parts;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const view = await readQueue(parts, resource);
    const place = view.places.find((one) => one.number === number);
    if (!place) return false;
    const { id: key, as = idIn(key), sealed } = place;
    const known = now ? [] : view.barring(place);
    const bars = known.length > MOST_COMPARED ? [] : known;
    if (waiting && bars.length === 0) return false;
    if (sealed && sealed.why !== 'handed-over' && !now) return true;
    const ttlMs = place.ttlMs ?? (await client.timeToLive(place.lease));
    const success: Operation[] = [];
    if (!now && bars.length === 0) {
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
      const noted = view.holds(key) && (view.admitted === 1 || view.waiters > 0);
      if (noted) success.push({ put: { key: keys.note(resource), lease, value } });
    }
    const compare = [place, ...bars].map(unchanged);
    if ((await client.txn({ compare, success })).succeeded) return true;
  }
  throw temporaryFailure(BUSY);
}

/** As it was read, and not deleted meanwhile. */
export function unchanged({ id: key, revision }: EtcdPlace): Compare {
  return { target: 'mod', is: '=', key, to: revision };
}
