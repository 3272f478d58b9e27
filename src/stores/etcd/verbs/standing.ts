/**
 * The status of a claim whose key is there, and how its queue is followed. One that has left may
 * have a tombstone: the status for late copies of it, as long as they might live.
 */
import { follow, type Soon } from '../../../base/answer.ts';
import type { KeyValue, Operation } from '../../../clients/etcd/client.ts';
import { EXPIRED } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, GoneStatus } from '../../../contract/store.ts';
import { SEALS, type Seal } from '../../consensus/terms.ts';
import type { EtcdClaim } from '../own-claim.ts';
import type { EtcdParts } from '../own-claims.ts';
import type { EtcdPlace, EtcdView } from '../places.ts';

export interface FoundPlace {
  readonly claim: Claim;
  /** Undefined: far behind the known ones. */
  readonly place: EtcdPlace | undefined;
  readonly view: EtcdView;
  readonly sentAt: number;
}

export function standing(parts: EtcdParts, found: FoundPlace): Soon<ClaimStatus> {
  const { claim, place, view, sentAt } = found;
  if (place?.sealed) {
    const own = parts.own.find(claim);
    if (own) parts.own.forget(own);
    return place.sealed;
  }
  return follow<EtcdClaim | undefined, ClaimStatus>(ownOf(parts, found), (own) => {
    if (!own) return EXPIRED;
    // Its key is there, whatever was deleted a moment ago.
    own.lease.occupants.set(claim.id, own);
    const waited = own.known && !own.held;
    const admitted = view.holds(own.key);
    if (!admitted) own.before ??= view.places[view.find(own.key) - 1];
    const takes = admitted && !own.held ? takeOver(parts, { own, view, waited }) : undefined;
    return follow<void, ClaimStatus>(takes, () => {
      own.see(view);
      parts.own.follow(own, !admitted);
      return own.status(sentAt);
    });
  });
}

/** Another connection may have made it, on a lease of another process. */
function ownOf(parts: EtcdParts, { claim, place }: FoundPlace): Soon<EtcdClaim | undefined> {
  const own = parts.own.find(claim);
  if (!place || own?.lease.id === place.lease) return own;
  const at = parts.clock.now();
  return parts.client.timeToLive(place.lease).then((ms) => {
    if (own) parts.own.forget(own);
    if (ms <= 0) return undefined;
    return parts.own.add(claim, parts.leases.of(place.lease, { ms, at }), place.id);
  });
}

/** Sets how the hold before it ended. */
function takeOver(
  parts: EtcdParts,
  { own, view, waited }: { own: EtcdClaim; view: EtcdView; waited: boolean },
): Soon<void> {
  const watch = waited ? parts.own.watchOf(own.claim.resource) : undefined;
  if (watch) return watch.admitted(own);
  if (waited) return own.succeed(view.note);
  own.noted = view.note !== undefined;
  // After a release, or beside other holders, no work is undone.
  const alone = view.find(own.key) === 0;
  if (alone && view.note?.reason !== 'released') own.takeover = view.note;
}

export function burial(key: string, lease: bigint, why: Seal['sealed'], detail = ''): Operation {
  return { put: { key, lease, value: `${why} ${detail}` } };
}

/** The status that the tombstone has; without one, its life is over. */
export function epitaph(tombstone: KeyValue | undefined): GoneStatus {
  if (!tombstone) return EXPIRED;
  const space = tombstone.value.indexOf(' ');
  const detail = tombstone.value.slice(space + 1);
  const why = SEALS.find((seal) => seal === tombstone.value.slice(0, space)) ?? 'unknown';
  return { state: 'gone', why, ...(detail !== '' && { detail }) };
}
