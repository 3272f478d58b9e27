/**
 * Holds that pass from one id to another, each in one transaction that compares the key with what
 * was read.
 *
 * Invariant: the key stays, because its create revision is the place and the token; its terms say
 * whose the hold is by now. The maker of the key finds nothing there any more (`isOf`), and has a
 * tombstone, without which its release would delete the key. Each time, the key goes to a lease of
 * its own. So a copy of the request that comes late, after its sender has given up, puts the hold
 * on a lease that no process keeps alive; and a hold that was given has no heartbeats on its way.
 * What would break it: a key that is put where another was deleted meanwhile.
 */
import type { Operation } from '../../../clients/etcd/client.ts';
import { temporaryFailure } from '../../../contract/errors.ts';
import { UNKNOWN } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, HandOver } from '../../../contract/store.ts';
import { MOST_TRIES, type Seal } from '../../consensus/terms.ts';
import type { EtcdParts } from '../own-claims.ts';
import { isOf, textOf } from '../places.ts';
import { firstIn, queueIn, reading } from '../reading.ts';
import { BUSY, unchanged } from './change.ts';
import { burial, epitaph, standing } from './standing.ts';

export async function handOver(
  parts: EtcdParts,
  claim: Claim,
  { from, to }: HandOver,
): Promise<ClaimStatus> {
  const { client, keys, leases } = parts;
  const { resource, ttlMs, holder } = claim;
  const takes = claim.id === to;
  const graves = [to, from].map((id): Operation => ({ range: { key: keys.tombstone(id) } }));
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const sentAt = parts.clock.now();
    const { answers } = await client.txn({ success: [reading(keys, resource), ...graves] });
    const [queue, ...tombstones] = answers;
    const [late, gone] = tombstones.map(firstIn);
    const view = await queueIn(parts, queue, { resource });
    const passed = view.places.find((each) => isOf(each, to));
    if (passed) return standing(parts, { claim, place: passed, view, sentAt });
    const place = view.places.find((each) => isOf(each, from));
    if (late || !place) return epitaph(late ?? gone);
    const { id: key, sealed } = place;
    const ready = view.holds(key) && sealed?.why === (takes ? 'handed-over' : undefined);
    if (!ready) return sealed ?? UNKNOWN;
    const lease = await leases.ending(ttlMs);
    const memo = await leases.memo(ttlMs);
    const seal: Partial<Seal> = takes ? {} : { sealed: 'handed-over' };
    const value = textOf({ ...place, ttlMs, holder, as: to }, seal);
    const own = parts.own.find(claim);
    const { succeeded } = await client.txn({
      compare: [unchanged(place), { target: 'version', is: '=', key: keys.tombstone(to), to: 0n }],
      success: [
        { put: { key, value, lease } },
        burial(keys.tombstone(from), memo, takes ? 'resumed' : 'unknown'),
        // On the hold before its own: none is to be told of that again.
        ...(own?.noted ? [{ delete: { key: keys.note(resource) } }] : []),
      ],
    });
    if (succeeded && own) parts.own.forget(own);
    if (succeeded && takes) parts.own.add(claim, leases.of(lease, { ms: ttlMs, at: sentAt }), key);
  }
  throw temporaryFailure(BUSY);
}
