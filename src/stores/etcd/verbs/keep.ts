/**
 * Records of finished work: each is a key in no queue, on a lease without heartbeats.
 *
 * Invariant: only a holder writes a record. Its transaction compares the create revision of the
 * claim's key, so the claim is still there, and the lease of that key, because a seal puts it on
 * another one. Whether it is admitted is known before: once it is, it stays so. A late copy finds
 * the key gone, and writes nothing.
 * A lease serves many records: it is granted for a tenth more than was asked for, and used as long
 * as it has enough left. So about a dozen leases live at a time for all records of about one
 * length, however many those are; each would otherwise cost a timer of the leader, and a write of
 * its own. A new leader gives every lease its whole life again, also one of days. So a record may
 * live longer than was asked for, by a sixth or by that, and never shorter: lengths are rounded up,
 * and a lease's life counts from before it was granted.
 * What would break it: a program that ends the leases of others.
 */
import type { Compare, Operation } from '../../../clients/etcd/client.ts';
import { isLeaseGone } from '../../../clients/etcd/errors.ts';
import type { Claim, Kept, RecordTerms } from '../../../contract/store.ts';
import type { EtcdParts } from '../own-claims.ts';
import type { EtcdPlace } from '../places.ts';
import { firstIn, readQueue } from '../reading.ts';

/** How much longer a lease lives, so that later records can share it. */
const MORE = 1.1;
/** Tolerance for clock rates. */
const DRIFT = 1.01;

export async function keep(parts: EtcdParts, claim: Claim, record: RecordTerms): Promise<boolean> {
  const own = parts.own.find(claim);
  const known = own?.held ? { number: own.number, lease: own.lease.id } : undefined;
  if (known && (await write(parts, claim, { ...known, ...record }))) return true;
  // Its key may have changed since.
  const view = await readQueue(parts, claim.resource);
  const place = parts.own.placeIn(view, claim);
  if (!place || place.sealed || !view.holds(place.id)) return false;
  return write(parts, claim, { number: place.number, lease: place.lease, ...record });
}

export async function recall(parts: EtcdParts, resource: string): Promise<Kept | undefined> {
  const { client, keys } = parts;
  const { answers } = await client.txn({ success: [{ range: { key: keys.record(resource) } }] });
  const kv = firstIn(answers[0]);
  if (!kv) return undefined;
  // The last second may read as 0.
  return { text: kv.value, leftMs: Math.max(1, await client.timeToLive(kv.lease)) };
}

/** False: the claim no longer holds. */
async function write(
  { client, clock, keys, leases, own }: EtcdParts,
  claim: Claim,
  { number, lease, text, ms }: Pick<EtcdPlace, 'number' | 'lease'> & RecordTerms,
): Promise<boolean> {
  // It was not renewed for its ttl: it is about to be deleted.
  if ((own.find(claim)?.until ?? Number.POSITIVE_INFINITY) <= clock.now()) return false;
  const key = own.keyOf(claim);
  const compare: Compare[] = [
    { target: 'create', is: '=', key, to: number },
    { target: 'lease', is: '=', key, to: lease },
  ];
  const record = { key: keys.record(claim.resource) };
  const attempt = async (operation: Operation): Promise<boolean> =>
    (await client.txn({ compare, success: [operation] })).succeeded;
  if (ms <= 0) return attempt({ delete: record });
  for (let again = false; ; again = true) {
    const memo = await leases.memo(ms * DRIFT, MORE);
    try {
      return await attempt({ put: { ...record, value: text, lease: memo } });
    } catch (error) {
      if (again || !isLeaseGone(error)) throw error;
      leases.forgetMemos();
    }
  }
}
