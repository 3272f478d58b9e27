/** The status of a claim whose key is there, and how its queue is followed. */
import { toStoreError } from '../../contract/errors.ts';
import type { Claim, ClaimStatus } from '../../contract/store.ts';
import type { OwnClaim } from './own-claim.ts';
import type { Parts } from './parts.ts';
import type { Place, QueueView } from './queue.ts';

export interface Found {
  readonly claim: Claim;
  /** Undefined: far behind the known ones. */
  readonly place: Place | undefined;
  readonly view: QueueView;
  readonly sentAt: number;
}

export async function standing(parts: Parts, found: Found): Promise<ClaimStatus> {
  const { claim, place, view, sentAt } = found;
  if (place?.sealed) {
    const own = parts.own.find(claim.id);
    if (own) parts.own.forget(own);
    return place.sealed;
  }
  const own = await ownOf(parts, found);
  if (!own) return { state: 'gone', why: 'expired' };
  // Its key is there, whatever was deleted a moment ago.
  own.lease.occupants.set(claim.id, own);
  const waited = own.news !== undefined && !own.held;
  const admitted = view.find(own.key) >= 0 && view.find(own.key) < view.admitted;
  if (!admitted) {
    own.before ??= view.places[view.find(own.key) - 1];
    own.learn(view.find(own.key) === view.admitted ? 'first' : 'waiting');
    parts.own.follow(own, true);
    return own.statusIn(view, sentAt) ?? behind(own, view, sentAt);
  }
  if (!own.held) await takeOver(parts, { own, view, waited });
  own.learn(view.waiters > 0 ? 'crowded' : 'held');
  parts.own.follow(own, false);
  return own.statusIn(view, sentAt) ?? behind(own, view, sentAt);
}

/** Another connection may have made it, on a lease of another process. */
async function ownOf(parts: Parts, found: Found): Promise<OwnClaim | undefined> {
  const { claim, place } = found;
  const own = parts.own.find(claim.id);
  if (!place || own?.lease.id === place.lease) return own;
  const at = parts.clock.now();
  const ms = await parts.client.timeToLive(place.lease);
  if (own) parts.own.forget(own);
  return ms > 0 ? parts.own.add(claim, parts.leases.of(place.lease, { ms, at })) : undefined;
}

/** Sets how the hold before it ended. */
async function takeOver(
  parts: Parts,
  { own, view, waited }: { own: OwnClaim; view: QueueView; waited: boolean },
): Promise<void> {
  const watch = waited ? parts.own.watchOf(own.claim.resource) : undefined;
  if (watch) return watch.admitted(own);
  if (waited) return own.succeed(view.ended);
  own.noted = view.ended !== undefined;
  // After a release, or beside other holders, no work is undone.
  const alone = view.find(own.key) === 0;
  if (alone && view.ended?.reason !== 'released') own.takeover = view.ended;
}

function behind(own: OwnClaim, view: QueueView, at: number): ClaimStatus {
  return {
    state: 'waiting',
    why: 'queue',
    ahead: view.total - 1,
    leftMs: own.leftMs(at),
    retryInMs: own.claim.ttlMs,
  };
}

/** Only this claim failed. */
export function errorStatus(error: unknown): ClaimStatus {
  return { state: 'error', error: toStoreError(error) };
}
