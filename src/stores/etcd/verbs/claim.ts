/**
 * Claims that enter their queues, many in one request: each has a transaction of its own
 * (attempt.ts), unless they enter together. One that took its queue for empty, and met another,
 * enters again behind it. A lease that has died meanwhile is buried, and all enter once more with
 * another.
 */
import { isLeaseGone } from '../../../clients/etcd/errors.ts';
import { temporaryFailure } from '../../../contract/errors.ts';
import { REFUSED } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus } from '../../../contract/store.ts';
import { errorStatus } from '../../batch.ts';
import { MOST_TRIES } from '../../consensus/terms.ts';
import type { EtcdParts } from '../own-claims.ts';
import { sendAsOne } from '../together.ts';
import { ClaimAttempt, OVERTAKEN, sent } from './attempt.ts';

/** Claims of different resources, on one lease: that of the longest ttl. */
export async function enterAll(
  parts: EtcdParts,
  claims: readonly Claim[],
  step: typeof enter = enter,
): Promise<ClaimStatus[]> {
  const ttlMs = Math.max(...claims.map((claim) => claim.ttlMs));
  for (let again = false; ; again = true) {
    const lease = await parts.leases.lend(ttlMs);
    const sentAt = parts.clock.now();
    const entries = claims.map((claim) => new ClaimAttempt(parts, claim, lease));
    try {
      return await step(parts, entries, sentAt);
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

/** All of these tries, or none. @throws StoreError */
export async function enterTogether(
  parts: EtcdParts,
  entries: readonly ClaimAttempt[],
  since: number,
): Promise<ClaimStatus[]> {
  let sentAt = since;
  for (let tries = 0; tries <= MOST_TRIES; tries++) {
    const { outcomes, revision } = await sent(parts, entries, sendAsOne);
    for (const [i, entry] of entries.entries()) entry.checkLease(outcomes[i]);
    const known = await Promise.all(
      entries.map((entry, i) => entry.learn(outcomes[i], revision, sentAt)),
    );
    // If nothing is known of any, all would be held now.
    if (known.some((status) => status)) {
      return entries.map((entry, i) => known[i] ?? entry.leave(REFUSED));
    }
    sentAt = parts.clock.now();
  }
  throw temporaryFailure(OVERTAKEN);
}
