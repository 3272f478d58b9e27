/**
 * Claims that leave.
 *
 * A key is deleted by its id, so no release can end another claim. A holder with waiters notes in
 * the same transaction how the hold ended; a note that is older than the hold goes with it. A claim
 * that was not there, or that was ever unanswered, leaves a tombstone for its TTL. A delayed
 * release puts the claim on a lease of its own without keep-alives, which this process ends when
 * its time is over. By itself it ends later: leases last whole seconds, and two at least.
 * The key of a claim that this process does not know, or no longer, is deleted only if the claim
 * has no tombstone: the hold may have passed on (hand-over.ts).
 */
import { Answer, type Soon } from '../../../base/answer.ts';
import type { Compare, Operation, Txn } from '../../../clients/etcd/client.ts';
import type { Claim } from '../../../contract/store.ts';
import { NOTE_MS } from '../lease.ts';
import { type EtcdClaim, RELEASED } from '../own-claim.ts';
import type { EtcdParts } from '../own-claims.ts';
import { noteOf, textOf } from '../places.ts';
import { readQueue } from '../reading.ts';
import { sendTogether } from '../together.ts';
import { unchanged } from './change.ts';
import { burial } from './standing.ts';

/** Claims of different resources. */
export function leaveAll(parts: EtcdParts, claims: readonly Claim[]): Answer<boolean[]> {
  const { client, leases } = parts;
  const doubted = claims.filter(({ unanswered }) => unanswered);
  const longest = Math.max(0, ...doubted.map(({ ttlMs }) => ttlMs));
  const memo = longest > 0 ? leases.memo(longest) : undefined;
  return Answer.of<bigint | undefined>(() => memo).chain((lease) => {
    const txns = claims.map((claim) =>
      departure(parts, claim, claim.unanswered ? lease : undefined),
    );
    const known = claims.flatMap((claim) => parts.own.find(claim) ?? []);
    for (const own of known) parts.own.leave(own);
    const replied = sendTogether(client, txns).or((error): never => {
      for (const own of known) own.until = RELEASED;
      throw error;
    });
    return replied.chain(({ outcomes }): Soon<boolean[]> => {
      const left = outcomes.map(({ answers: [first] }) => {
        return first !== undefined && 'deleted' in first && first.deleted > 0;
      });
      for (const own of known) parts.own.forget(own);
      const absent = claims.filter((_, i) => !left[i]);
      if (absent.length === 0) return left;
      return buryAll(parts, absent).then(() => {
        const stayed = claims.map((claim, i) => left[i] || endSealed(parts, claim));
        return Promise.all(stayed);
      });
    });
  });
}

/** A claim that is to end ends now, though it has a tombstone. */
async function endSealed(parts: EtcdParts, claim: Claim): Promise<boolean> {
  const view = await readQueue(parts, claim.resource);
  const place = parts.own.placeIn(view, claim);
  if (!place) return false;
  const success = [{ delete: { key: place.id } }];
  const { succeeded } = await parts.client.txn({ compare: [unchanged(place)], success });
  return succeeded || endSealed(parts, claim);
}

/** The claim ends this much later, even if this process dies first. */
export async function leaveLater(parts: EtcdParts, claim: Claim, ms: number): Promise<boolean> {
  const { client, clock, keys, leases } = parts;
  const endsAt = clock.now() + ms;
  const view = await readQueue(parts, claim.resource);
  const place = parts.own.placeIn(view, claim);
  if (!place || !view.holds(place.id)) {
    const [left = false] = await leaveAll(parts, [claim]);
    return left;
  }
  const { id: key } = place;
  const own = parts.own.find(claim);
  if (!place.sealed) {
    const lease = await leases.ending(ms);
    const value = textOf(place, { sealed: 'unknown', lasts: ms });
    const same = { target: 'lease', is: '=', key, to: place.lease } as const;
    const success: Operation[] = [{ put: { key, value, lease } }];
    if (claim.unanswered) {
      success.push(burial(keys.tombstone(claim.id), await leases.memo(claim.ttlMs), 'unknown'));
    }
    const { succeeded } = await client.txn({ compare: [same], success });
    if (!succeeded) return leaveLater(parts, claim, ms);
    leases.endAt(lease, endsAt);
  }
  if (own) parts.own.forget(own);
  return true;
}

/** `memo` is the lease for its tombstone; undefined: it leaves none. */
function departure(parts: EtcdParts, claim: Claim, memo: bigint | undefined): Txn {
  const key = parts.own.keyOf(claim);
  const tombstone = parts.keys.tombstone(claim.id);
  const leave: Operation = { delete: { key } };
  const own = parts.own.find(claim);
  const notes = note(parts, own);
  const burials = memo === undefined ? [] : [burial(tombstone, memo, 'unknown')];
  if (own && notes.length === 0 && burials.length === 0) return { success: [leave] };
  return {
    compare: [own ? { target: 'version', is: '>', key, to: 0n } : isAbsent(tombstone)],
    success: [leave, ...notes, ...burials],
    failure: burials,
  };
}

function isAbsent(key: string): Compare {
  return { target: 'version', is: '=', key, to: 0n };
}

function note({ keys, leases, own: all }: EtcdParts, own: EtcdClaim | undefined): Operation[] {
  if (!own?.held) return [];
  const key = keys.note(own.claim.resource);
  const contended = (all.watchOf(own.claim.resource)?.waiters ?? 0) > 0;
  const lease = contended ? leases.memoAtHand(NOTE_MS) : undefined;
  if (lease !== undefined) {
    return [{ put: { key, lease, value: noteOf({ reason: 'released', token: own.number }) } }];
  }
  return own.noted ? [{ delete: { key } }] : [];
}

/** They were not there, nor is there a tombstone: a copy may still be on its way. */
async function buryAll(parts: EtcdParts, claims: readonly Claim[]): Promise<void> {
  const sure = claims.filter(({ unanswered }) => !unanswered);
  if (sure.length === 0) return;
  const lease = await parts.leases.memo(Math.max(...sure.map(({ ttlMs }) => ttlMs)));
  const txns = sure.map((claim) => departure(parts, claim, lease));
  await sendTogether(parts.client, txns);
}
