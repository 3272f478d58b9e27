/**
 * Whole verbs in one statement, for claims that concern no other claim.
 *
 * Most claims find an empty queue, and most leave one behind. Each statement here checks in itself
 * that no claim waits, none is dead and no tombstone lies in the way, and leaves the rest to the
 * long way. So it changes nothing that settling the queue would have changed.
 */
import type { Claim, HeldStatus } from '../../contract/store.ts';
import { toText } from '../name-text.ts';
import { heldStatus, type Rows, toUs } from './rows.ts';
import type { Row } from './statements.ts';

/** The ids that entered an empty queue, at this seq; `base` must be the file's. */
export function enterEmpty(
  { sql }: Rows,
  claims: readonly Claim[],
  at: { readonly base: number; readonly now: number; readonly address: string },
): ReadonlySet<string> {
  const { base, now, address } = at;
  const [only] = claims;
  if (claims.length === 1 && only && only.permits <= only.limit) {
    const { id, kind, permits, limit, holder } = only;
    const name = toText(only.resource);
    const ttl = toUs(only.ttlMs);
    const values = [name, base + now, id, kind, permits, limit, ttl, now + ttl] as const;
    const text = JSON.stringify(holder);
    const { changes } = sql.enterEmpty.run(...values, text, address, base, name, id, now);
    return new Set(changes ? [id] : []);
  }
  const rows = claims
    .filter((claim) => claim.permits <= claim.limit)
    .map(({ resource, id, kind, permits, limit, ttlMs, holder }) => {
      const text = JSON.stringify(holder);
      return [toText(resource), id, kind, permits, limit, toUs(ttlMs), text];
    });
  const json = JSON.stringify(rows);
  const { changes } = sql.enterEmptyAll.run(base + now, now, address, json, base, now);
  if (Number(changes) === claims.length) return new Set(claims.map(({ id }) => id));
  return idsOf(changes ? sql.enteredAt.all(json, base + now) : []);
}

/** Renews held claims; returns their statuses by id. */
export function renewQuiet(
  { sql, seqs }: Rows,
  claims: readonly Claim[],
  now: number,
): ReadonlyMap<string, HeldStatus> {
  const known = claims.flatMap(({ resource, id, ttlMs }) => {
    const seq = seqs.get(id);
    return seq === undefined ? [] : [[toText(resource), seq, id, now + toUs(ttlMs)]];
  });
  const rows = sql.renewQuiet.all(JSON.stringify(known), now, now) as Row[];
  const renewed = new Map(rows.map((row) => [row.id, row]));
  const statuses = new Map<string, HeldStatus>();
  for (const { id, ttlMs } of claims) {
    const row = renewed.get(id);
    if (row) statuses.set(id, heldStatus(row, ttlMs, 0));
  }
  return statuses;
}

/** Returns the ids that left without news for another claim. */
export function leaveQuiet(
  { sql, seqs, crowded }: Rows,
  claims: readonly Claim[],
  now: number,
): Set<string> {
  const known = claims.flatMap(({ resource, id, unanswered }) => {
    const seq = seqs.get(id);
    return seq === undefined || unanswered || crowded.has(id)
      ? []
      : [[toText(resource), seq, id] as const];
  });
  const [only] = known;
  if (known.length === 1 && only) {
    const [name, seq, id] = only;
    const { changes } = sql.leaveQuiet.run(name, seq, id, now, name, seq, now);
    return new Set(changes ? [id] : []);
  }
  return idsOf(known.length === 0 ? [] : sql.leaveQuietAll.all(JSON.stringify(known), now, now));
}

function idsOf(rows: unknown[]): Set<string> {
  return new Set((rows as { id: string }[]).map((row) => row.id));
}
