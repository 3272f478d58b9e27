/**
 * Claims that enter their queues, many in one request: each has a transaction of its own
 * (attempt.ts). One that took its queue for empty, and met another, enters again behind it. A lease
 * that has died meanwhile is buried, and all enter once more with another.
 */
import { isLeaseGone } from '../../../clients/etcd/errors.ts';
import type { Claim, ClaimStatus } from '../../../contract/store.ts';
import { errorStatus } from '../../batch.ts';
import type { EtcdParts } from '../own-claims.ts';
import { ClaimAttempt, sent } from './attempt.ts';

/** Claims of different resources, with one ttl. */
export async function enterAll(parts: EtcdParts, claims: readonly Claim[]): Promise<ClaimStatus[]> {
  const ttlMs = Math.max(...claims.map((claim) => claim.ttlMs));
  for (let again = false; ; again = true) {
    const lease = await parts.leases.lend(ttlMs);
    const sentAt = parts.clock.now();
    const entries = claims.map((claim) => new ClaimAttempt(parts, claim, lease));
    try {
      return await enter(parts, entries, sentAt);
    } catch (error) {
      if (again || !isLeaseGone(error)) throw error;
      await parts.leases.bury(lease, ttlMs);
      for (const { own } of entries) parts.own.forget(own);
    }
  }
}

/** @throws StoreError */
async function enter(
  parts: EtcdParts,
  entries: readonly ClaimAttempt[],
  sentAt: number,
): Promise<ClaimStatus[]> {
  if (entries.length === 0) return [];
  const { outcomes, revision } = await sent(parts, entries);
  const met = entries.filter((entry, i) => entry.meets(outcomes[i]));
  for (const [i, entry] of entries.entries()) entry.checkLease(outcomes[i]);
  for (const entry of met) entry.way = 'reading';
  const behind = await enter(parts, met, parts.clock.now()).catch((error: unknown) => {
    if (isLeaseGone(error)) throw error;
    return met.map(() => errorStatus(error));
  });
  return Promise.all(
    entries.map((entry, i) => {
      const status = behind[met.indexOf(entry)];
      return status ?? entry.settle(outcomes[i], revision, sentAt).catch(errorStatus);
    }),
  );
}
