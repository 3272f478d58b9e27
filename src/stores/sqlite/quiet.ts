/**
 * Whole verbs in one statement, for claims that concern no other claim.
 *
 * Most claims find an empty queue, and most leave one behind. Each statement here checks in itself
 * that no claim waits, none is dead and no tombstone lies in the way, and leaves the rest to the
 * queue. So it changes nothing that a step of the queue would have changed. A lone claim comes in
 * bound values, several in one JSON text: two sources for the same statement, because each takes
 * half as long again for the other's claims.
 * What would break it: a number from a base that is no longer the file's, so that is compared.
 */
import { toText } from '../../clients/sql/name-text.ts';
import type { FileConnection, SqliteStatement } from '../../clients/sqlite/connection.ts';
import type { Claim, HeldStatus } from '../../contract/store.ts';
import { toTakeover, toUs } from './rows.ts';

/** Values of the source, now, address, base. */
const enterFrom = (source: string): string => `INSERT INTO holdfast_claim
  (resource, id, lim, ttl, holder, kind, permits, seq, address, expires, admitted, told)
  SELECT j.*, base + n.now, n.address, n.now + j.ttl, 1, 0
  FROM (${source}) j, (SELECT ? AS now, ? AS address, ? AS base_known) n, holdfast_meta
  WHERE base = n.base_known
  AND NOT EXISTS (SELECT 1 FROM holdfast_claim c WHERE c.resource = j.resource)
  AND NOT EXISTS (SELECT 1 FROM holdfast_tombstone t WHERE t.id = j.id AND t.until > n.now)
  ON CONFLICT DO NOTHING`;

/** Values of the match, now, now. */
const leaveWhere = (match: string): string => `DELETE FROM holdfast_claim AS c
  WHERE ${match} AND sealed IS NULL AND expires > ?
  AND NOT EXISTS (SELECT 1 FROM holdfast_claim o WHERE o.resource = c.resource
    AND o.seq <> c.seq AND (o.admitted = 0 OR o.sealed IS NOT NULL OR o.expires <= ?))`;

const SQL = {
  /** Resource, id, lim, ttl, holder, kind, permits. */
  enter: enterFrom(`SELECT ? AS resource, ? AS id, ? AS lim, ? AS ttl, ? AS holder, ? AS kind,
    ? AS permits`),
  /** JSON of lists of the same. */
  enterAll: enterFrom(`SELECT value->>0 AS resource, value->>1 AS id, value->>2 AS lim,
    value->>3 AS ttl, value->>4 AS holder, value->>5 AS kind, value->>6 AS permits
    FROM json_each(?)`),
  /** JSON [[resource, id, expires]], now, now. */
  renewAll: `UPDATE holdfast_claim AS c SET expires = j.until
    FROM (SELECT value->>0 AS name, value->>1 AS secret, value->>2 AS until FROM json_each(?)) j
    WHERE c.resource = j.name AND c.id = j.secret
    AND c.admitted = 1 AND c.sealed IS NULL AND c.expires > ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim o WHERE o.resource = c.resource
      AND (o.admitted = 0 OR o.expires <= ? OR o.lim < c.lim))
    RETURNING id, seq, took, took_seq`,
  /** Resource, id. */
  leave: leaveWhere('resource = ? AND id = ?'),
  /** JSON of resources, JSON of ids. */
  leaveAll: `${leaveWhere(`resource IN (SELECT value FROM json_each(?))
    AND id IN (SELECT value FROM json_each(?))`)} RETURNING id`,
} as const;

/** When a step is made, and by which process. */
export interface Now {
  readonly now: number;
  readonly base: number;
  readonly address: string;
}

export class Quiet {
  readonly #sql: Readonly<Record<keyof typeof SQL, SqliteStatement>>;

  constructor(connection: FileConnection) {
    this.#sql = connection.prepareAll(SQL);
  }

  /** Claims that entered empty queues: all of them, or none is known to have. */
  enter(claims: readonly Claim[], { now, base, address }: Now): Map<string, HeldStatus> {
    const fit = claims.filter((claim) => claim.permits <= claim.limit);
    const rows = fit.map(({ resource, id, limit, ttlMs, holder, kind, permits }) => {
      const texts = [toText(resource), id] as const;
      return [...texts, limit, toUs(ttlMs), JSON.stringify(holder), kind, permits] as const;
    });
    const [only] = rows;
    if (!only) return new Map();
    const at = [now, address, base] as const;
    const { changes } =
      rows.length === 1
        ? this.#sql.enter.run(...only, ...at)
        : this.#sql.enterAll.run(JSON.stringify(rows), ...at);
    if (Number(changes) < fit.length) return new Map();
    return new Map(fit.map(({ id, ttlMs }) => [id, aloneFor(ttlMs, base + now)]));
  }

  renew(claims: readonly Claim[], { now }: Now): Map<string, HeldStatus> {
    if (claims.length === 0) return new Map();
    const wanted = claims.map(({ resource, id, ttlMs }) => [
      toText(resource),
      id,
      now + toUs(ttlMs),
    ]);
    const rows = this.#sql.renewAll.all(JSON.stringify(wanted), now, now) as Renewed[];
    const lives = new Map(claims.map(({ id, ttlMs }) => [id, ttlMs]));
    const statuses = rows.map(({ id, seq, took, took_seq }): [string, HeldStatus] => {
      const takeover = toTakeover(took, took_seq);
      return [id, { ...aloneFor(lives.get(id) as number, seq), takeover }];
    });
    return new Map(statuses);
  }

  /** The claims that left without a wake for another claim, by id. */
  leave(claims: readonly Claim[], { now }: Now): Map<string, true> {
    const [only] = claims;
    if (!only) return new Map();
    if (claims.length === 1) {
      const { changes } = this.#sql.leave.run(toText(only.resource), only.id, now, now);
      return new Map(changes ? [[only.id, true]] : []);
    }
    const names = JSON.stringify(claims.map(({ resource }) => toText(resource)));
    const ids = JSON.stringify(claims.map(({ id }) => id));
    const left = this.#sql.leaveAll.all(names, ids, now, now) as { id: string }[];
    return new Map(left.map(({ id }) => [id, true]));
  }
}

interface Renewed {
  readonly id: string;
  readonly seq: number;
  readonly took: string | null;
  readonly took_seq: number | null;
}

function aloneFor(leftMs: number, seq: number): HeldStatus {
  const token = BigInt(seq);
  return { state: 'held', token, leftMs, waiters: 0, takeover: undefined, limit: undefined };
}
