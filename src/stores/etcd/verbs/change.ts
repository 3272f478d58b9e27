/** Downgrades, and claims that are ended by force; each compares with what was read. */
import type { Compare, Operation } from '../../../clients/etcd/client.ts';
import { temporaryFailure } from '../../../contract/errors.ts';
import type { Claim, ClaimStatus, Eviction } from '../../../contract/store.ts';
import { replacedIn } from '../../consensus/replacing.ts';
import { MOST_TRIES, type Seal } from '../../consensus/terms.ts';
import { idIn } from '../layout.ts';
import { NOTE_MS } from '../lease.ts';
import type { EtcdParts } from '../own-claims.ts';
import { type EtcdPlace, type EtcdView, isOf, noteOf, textOf } from '../places.ts';
import { readQueue } from '../reading.ts';
import { burial, standing } from './standing.ts';

export const BUSY = 'Other requests kept changing the claim.';
/** A server compares 128 keys in one transaction, unless it is told otherwise. */
const MOST_COMPARED = 100;

export async function downgrade(parts: EtcdParts, claim: Claim): Promise<ClaimStatus | undefined> {
  const key = parts.own.keyOf(claim);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const sentAt = parts.clock.now();
    const { view } = await readQueue(parts, claim.resource);
    const place = view.at(key);
    if (!place || !isOf(place, claim.id)) return undefined;
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

/** Ends the claim with this number: now, or with its ttl. */
export async function evict(
  parts: EtcdParts,
  resource: string,
  number: bigint,
  { reason, now }: Eviction,
): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { view } = await readQueue(parts, resource);
    const place = view.places.find((one) => one.number === number);
    if (!place) return false;
    if (place.sealed && place.sealed.why !== 'handed-over' && !now) return true;
    const seal = { sealed: 'evicted', detail: reason } as const;
    if (await expel(parts, { resource, view, place }, { ...seal, now })) return true;
  }
  throw temporaryFailure(BUSY);
}

/** Ends what this claim replaces, and returns the queue that is left. */
export async function replaceOlder(parts: EtcdParts, claim: Claim): Promise<EtcdView> {
  const { keys, maxWaiters } = parts;
  const { resource } = claim;
  const own = { claim, id: keys.claim(resource, claim.id), maxWaiters };
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { view } = await readQueue(parts, resource);
    const older = replacedIn(view, { ...own, lifeOf: (place) => place });
    if (older.length === 0) return view;
    for (const place of older) {
      await expel(parts, { resource, view, place }, { sealed: 'replaced', now: false });
    }
  }
  throw temporaryFailure(BUSY);
}

interface FoundQueue {
  readonly resource: string;
  readonly view: EtcdView;
  readonly place: EtcdPlace;
}

/** False: it is not as it was read, or a waiter may have been admitted meanwhile. */
async function expel(
  { client, keys, leases }: EtcdParts,
  { resource, view, place }: FoundQueue,
  { now, ...seal }: Seal & Pick<Eviction, 'now'>,
): Promise<boolean> {
  const { id: key, as = idIn(key), number } = place;
  const holds = view.holds(key);
  const ttlMs = place.ttlMs ?? (await client.timeToLive(place.lease));
  const success: Operation[] = [];
  const bars = now ? [] : view.barring(place);
  if (!now && (bars.length === 0 || bars.length > MOST_COMPARED)) {
    // A lease without heartbeats, which outlives what the holder may count on.
    const lease = await leases.ending(ttlMs);
    success.push({ put: { key, lease, value: textOf(place, seal) } });
  } else {
    const lease = await leases.memo(Math.max(ttlMs, NOTE_MS));
    success.push({ delete: { key } }, burial(keys.tombstone(as), lease, seal));
    // For the claim that takes over, now or later.
    const value = noteOf({ reason: 'evicted', token: number });
    const noted = holds && (view.admitted === 1 || view.waiters > 0);
    if (noted) success.push({ put: { key: keys.note(resource), lease, value } });
  }
  const compare = [place, ...bars].map(unchanged);
  return (await client.txn({ compare, success })).succeeded;
}

/** As it was read, and not deleted meanwhile. */
export function unchanged({ id: key, revision }: EtcdPlace): Compare {
  return { target: 'mod', is: '=', key, to: revision };
}
