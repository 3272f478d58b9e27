/**
 * Holds that pass from one id to another, each in one transaction that compares the key with what
 * was read.
 *
 * Invariant: the key stays, because its create revision is the place and the token; its terms say
 * whose the hold is by now. Whoever made the key finds nothing there any more (`isOf`), and has a
 * tombstone, without which its release would delete the key. Each time, the key goes to a lease of
 * its own. So a copy of the request that comes late, after its sender has given up, puts the hold
 * on a lease that nobody keeps alive; and a hold that was given has no heartbeats on its way.
 * What would break it: a key that is put where another was deleted meanwhile.
 */
import type { Operation } from '../../../clients/etcd/client.ts';
import { temporaryFailure } from '../../../contract/errors.ts';
import { HANDED_OVER, UNKNOWN } from '../../../contract/gone.ts';
import type { HandOver } from '../../../contract/hand-over.ts';
import type { Claim, ClaimStatus } from '../../../contract/store.ts';
import { lifeOf, MOST_TRIES } from '../../consensus/terms.ts';
import type { EtcdParts } from '../own-claims.ts';
import { isOf, textOf } from '../places.ts';
import { firstIn, readQueue, viewOf } from '../reading.ts';
import { BUSY, unchanged } from './change.ts';
import { burial, epitaph, standing } from './standing.ts';

export async function handOver(
  parts: EtcdParts,
  claim: Claim,
  ids: HandOver,
): Promise<ClaimStatus> {
  const { client, keys, leases } = parts;
  const { resource, ttlMs, holder } = claim;
  const takes = claim.id === ids.to;
  const look = (id: string): Operation => ({ range: { key: keys.tombstone(id) } });
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const sentAt = parts.clock.now();
    const { view } = await readQueue(parts, resource);
    const passed = view.places.find((each) => isOf(each, ids.to));
    if (passed) return standing(parts, { claim, place: passed, view, sentAt });
    const place = view.places.find((each) => isOf(each, ids.from));
    if (!place) {
      const { answers } = await client.txn({ success: [look(ids.to), look(ids.from)] });
      return epitaph(firstIn(answers[0]) ?? firstIn(answers[1]));
    }
    const ready = takes ? place.sealed?.why === 'handed-over' : !place.sealed;
    if (!ready || !view.holds(place.id)) return place.sealed ?? UNKNOWN;
    const { id: key } = place;
    const granted = await leases.alone(ttlMs);
    const lease = granted.id;
    const terms = { as: ids.to, ...(!takes && ({ sealed: 'handed-over' } as const)) };
    const value = textOf({ ...place, ttlMs, holder }, terms);
    const tombstone = keys.tombstone(ids.from);
    const own = parts.own.find(claim);
    const { succeeded, answers, revision } = await client.txn({
      compare: [
        unchanged(place),
        { target: 'version', is: '=', key: keys.tombstone(ids.to), to: 0n },
      ],
      success: [
        { put: { key, value, lease } },
        burial(tombstone, await leases.memo(ttlMs), { sealed: takes ? 'resumed' : 'unknown' }),
        // On the hold before its own: nobody is to be told of that again.
        ...(own?.noted ? [{ delete: { key: keys.note(resource) } }] : []),
      ],
      failure: [look(ids.to)],
    });
    const late = succeeded ? undefined : firstIn(answers[0]);
    if (late) return epitaph(late);
    if (!succeeded) continue;
    if (own) parts.own.forget(own);
    if (!takes) return HANDED_OVER;
    parts.own.add(claim, granted, key);
    const life = lifeOf({ ttl: ttlMs, holder });
    const taken = { ...place, ...life, revision, lease, as: claim.id };
    const places = view.places.map((each) => (each === place ? taken : each));
    return standing(parts, { claim, place: taken, view: viewOf(places, view.total), sentAt });
  }
  throw temporaryFailure(BUSY);
}
