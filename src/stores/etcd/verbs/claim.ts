/**
 * Claims that enter their queues, many in one request: each has a transaction of its own
 * (attempt.ts), unless they enter together. One that took its queue for empty, and met another,
 * enters again behind it. A lease that has died meanwhile is buried, and all enter once more with
 * another.
 */
import { Answer, type Soon } from '../../../base/answer.ts';
import { isLeaseGone } from '../../../clients/etcd/errors.ts';
import { temporaryFailure } from '../../../contract/errors.ts';
import { REFUSED } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus } from '../../../contract/store.ts';
import { errorStatus } from '../../batch.ts';
import { MOST_TRIES } from '../../consensus/terms.ts';
import type { EtcdParts } from '../own-claims.ts';
import { sendAsOne } from '../together.ts';
import { ClaimAttempt, OVERTAKEN, sent } from './attempt.ts';

/** Claims of different resources, on one lease: `again` after it has died. */
export function enterAll(
  parts: EtcdParts,
  claims: readonly Claim[],
  step: typeof enter = enter,
  again = false,
): Answer<ClaimStatus[]> {
  const ttlMs = Math.max(...claims.map((claim) => claim.ttlMs));
  return parts.leases.lend(ttlMs).chain((lease) => {
    const sentAt = parts.clock.now();
    const entries = claims.map((claim) => new ClaimAttempt(parts, claim, lease));
    return step(parts, entries, sentAt).or(async (error) => {
      if (again || !isLeaseGone(error)) throw error;
      await parts.leases.bury(lease, ttlMs);
      for (const { own } of entries) parts.own.forget(own);
      return enterAll(parts, claims, step, true);
    });
  });
}

function enter(
  parts: EtcdParts,
  entries: readonly ClaimAttempt[],
  sentAt: number,
): Answer<ClaimStatus[]> {
  if (entries.length === 0) return Answer.all<ClaimStatus>([]);
  return sent(parts, entries).chain(({ outcomes, revision }) => {
    const met = entries.filter((entry, i) => entry.meets(outcomes[i]));
    for (const [i, entry] of entries.entries()) entry.checkLease(outcomes[i]);
    for (const entry of met) entry.way = 'reading';
    const behind = enter(parts, met, parts.clock.now()).or((error) => {
      if (isLeaseGone(error)) throw error;
      return met.map(() => errorStatus(error));
    });
    return behind.chain((statuses) => {
      const statusOf = (entry: ClaimAttempt, i: number): Soon<ClaimStatus> =>
        statuses[met.indexOf(entry)] ?? entry.settle(outcomes[i], revision, sentAt);
      return Answer.all(
        entries.map((entry, i) => Answer.of<ClaimStatus>(() => statusOf(entry, i)).or(errorStatus)),
      );
    });
  });
}

/** All of these tries, or none. */
export function enterTogether(
  parts: EtcdParts,
  entries: readonly ClaimAttempt[],
  sentAt: number,
  tries = 0,
): Answer<ClaimStatus[]> {
  return sent(parts, entries, sendAsOne).chain<ClaimStatus[]>(async ({ outcomes, revision }) => {
    for (const [i, entry] of entries.entries()) entry.checkLease(outcomes[i]);
    const learning = entries.map((entry, i) => entry.learn(outcomes[i], revision, sentAt));
    const known = await Promise.all(learning);
    // If nothing is known of any, all would be held now.
    if (known.some((status) => status)) {
      return entries.map((entry, i) => known[i] ?? entry.leave(REFUSED));
    }
    if (tries >= MOST_TRIES) throw temporaryFailure(OVERTAKEN);
    return enterTogether(parts, entries, parts.clock.now(), tries + 1);
  });
}
