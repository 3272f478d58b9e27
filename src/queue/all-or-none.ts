/**
 * Tries on several queues, of which all are held or none enters.
 *
 * Invariant: if no look finds an obstacle, each try is held once it has entered. A look goes by the
 * rule by which `enter` admits, and changes nothing: so tries that are refused leave no trace, and
 * the next claim still learns how the last hold ended.
 * What would break it: another caller's step between the looks and the entering.
 */
import { admissible, type Standing, sameQueue } from '../contract/admission.ts';
import { mismatch, REFUSED } from '../contract/gone.ts';
import type { Claim, ClaimStatus } from '../contract/store.ts';
import { lossOf } from './claims.ts';
import type { ClaimQueue } from './queue.ts';
import type { Entry } from './state.ts';

interface Looking {
  readonly now: number;
  /** As in `Entering`. */
  readonly trusts?: boolean;
}

/** Why a try would not hold, or the status of one that is there; undefined: it would hold. */
export function look(claim: Claim, queue: ClaimQueue, looking: Looking): ClaimStatus | undefined {
  const { now, trusts = false } = looking;
  const buried = queue.farewell(claim.id, now);
  if (buried) return buried;
  const own = queue.find(claim.id);
  if (own && own.expiresAt > now) return queue.statusOf(own, now);
  const [first] = living(queue, now);
  if (first && !sameQueue(first.kind, claim.kind)) return mismatch(first.kind);
  const closedMs = queue.state.closedUntil - now;
  if (!trusts && closedMs > 0) return { ...REFUSED, ...lossOf(closedMs) };
  return fits(claim, queue, now) ? undefined : REFUSED;
}

/** Whether it would be admitted behind all that live, as these would be in the same step. */
function fits(claim: Claim, queue: ClaimQueue, now: number): boolean {
  const closed = now < queue.state.closedUntil;
  const all: Standing[] = [];
  let waiting = 0;
  for (const each of living(queue, now)) {
    all.push(each);
    if (each.admitted) continue;
    if ((closed && !each.trusts) || admissible(all) < ++waiting) return false;
  }
  return admissible([...all, { ...claim, admitted: false }]) > waiting;
}

function* living(queue: ClaimQueue, now: number): Generator<Entry, void, void> {
  for (const each of queue.claims) if (each.expiresAt > now) yield each;
}

/** The statuses of all if one of them does not hold; undefined if all would. */
export function refusals(looks: readonly (ClaimStatus | undefined)[]): ClaimStatus[] | undefined {
  const free = looks.every((status) => status === undefined || status.state === 'held');
  return free ? undefined : looks.map((status) => status ?? REFUSED);
}
