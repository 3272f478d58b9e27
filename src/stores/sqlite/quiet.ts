/**
 * Whole verbs in one statement, for claims that concern no other claim.
 *
 * Most claims find an empty queue, and most leave one behind. Each statement here checks in itself
 * that no claim waits, none is dead and no tombstone lies in the way, and leaves the rest to the
 * queue. So it changes nothing that a step of the queue would have changed.
 */

import { toText } from '../../clients/sql/name-text.ts';
import type { Claim, HeldStatus, Takeover } from '../../contract/store.ts';
import { toTakeover, toUs } from './rows.ts';
import type { Steps } from './steps.ts';

/** Claims that entered an empty queue, by id. */
export function enterEmpty(
  { sql, places, address, base, now }: Steps,
  claims: readonly Claim[],
): Map<string, HeldStatus> {
  const seq = base + now;
  const entered = new Map<string, HeldStatus>();
  const enter = ({ id, ttlMs }: Claim): void => {
    places.set(id, { seq, quiet: true });
    entered.set(id, aloneFor(ttlMs, seq));
  };
  const fit = claims.filter((claim) => claim.permits <= claim.limit);
  const [only] = fit;
  if (fit.length === 1 && only) {
    const { id, kind, permits, limit, ttlMs, holder } = only;
    const name = toText(only.resource);
    const ttl = toUs(ttlMs);
    const text = JSON.stringify(holder);
    const values = [name, seq, id, limit, ttl, address, text, kind, permits, now + ttl] as const;
    if (sql.enterEmpty.run(...values, base, name, id, now).changes) enter(only);
  } else if (fit.length > 0) {
    const rows = fit.map(({ resource, id, limit, ttlMs, holder, kind, permits }) => {
      return [toText(resource), id, limit, toUs(ttlMs), JSON.stringify(holder), kind, permits];
    });
    const json = JSON.stringify(rows);
    const { changes } = sql.enterEmptyAll.run(seq, address, now, json, base, now);
    const all = Number(changes) === fit.length;
    const ids = all || !changes ? undefined : idsOf(sql.enteredAt.all(json, seq));
    if (changes) for (const claim of fit) if (!ids || ids.has(claim.id)) enter(claim);
  }
  return entered;
}

/** Renews held claims; returns their statuses by id. */
export function renewQuiet(
  { sql, places, now }: Steps,
  claims: readonly Claim[],
): Map<string, HeldStatus> {
  const known = claims.flatMap(({ resource, id, ttlMs }) => {
    const place = places.get(id);
    return place?.quiet ? [[toText(resource), place.seq, id, now + toUs(ttlMs)]] : [];
  });
  if (known.length === 0) return new Map();
  const rows = sql.renewQuiet.all(JSON.stringify(known), now, now) as Renewed[];
  const renewed = new Map(rows.map((row) => [row.id, row]));
  const statuses = new Map<string, HeldStatus>();
  for (const { id, ttlMs: leftMs } of claims) {
    const row = renewed.get(id);
    if (!row) continue;
    statuses.set(id, aloneFor(leftMs, row.seq, toTakeover(row.took, row.took_seq)));
  }
  return statuses;
}

interface Renewed {
  readonly id: string;
  readonly seq: number;
  readonly took: string | null;
  readonly took_seq: number | null;
}

/** The claims that left without news for another claim, by id. */
export function leaveQuiet(
  { sql, places, now }: Steps,
  claims: readonly Claim[],
): Map<string, true> {
  const known = claims.flatMap(({ resource, id, unanswered }) => {
    const place = places.get(id);
    return place?.quiet && !unanswered ? [[toText(resource), place.seq, id] as const] : [];
  });
  const [only] = known;
  if (known.length === 1 && only) {
    const [name, seq, id] = only;
    const { changes } = sql.leaveQuiet.run(name, seq, id, now, name, seq, now);
    return new Map(changes ? [[id, true]] : []);
  }
  if (known.length === 0) return new Map();
  const left = idsOf(sql.leaveQuietAll.all(JSON.stringify(known), now, now));
  return new Map([...left].map((id) => [id, true]));
}

function aloneFor(leftMs: number, seq: number, takeover?: Takeover): HeldStatus {
  const token = BigInt(seq);
  return { state: 'held', token, leftMs, waiters: 0, takeover, limit: undefined };
}

function idsOf(rows: unknown[]): Set<string> {
  return new Set((rows as { id: string }[]).map((row) => row.id));
}
