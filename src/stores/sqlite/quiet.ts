/**
 * Whole verbs in one statement, for claims that concern no other claim.
 *
 * Each statement checks in itself that no claim waits, none is dead and no tombstone lies in the
 * way: then it does what a step of the queue would do, and else nothing. A lone claim comes in
 * bound values, several in one JSON text, because each takes half as long again for the other's.
 *
 * A mutex that comes again leaves its row to the next claim, as the only one of its name. `take`
 * has read the clock before it has the write lock. Invariant: its number exceeds all that were
 * granted before. The row has the greatest of these, since its claim came with a number above all
 * others (queues.ts) and held alone; and `take` finds no row whose number is not below its own,
 * however old the clock and the base that this is made of: bases only grow. Once the row is swept,
 * the next claim reads the clock under the write lock.
 * What would break it: a row left by a claim beside which others may have held; a claim that enters
 * beside such a row; in `enter`, a base that is no longer the file's, so that is compared.
 */
import { toText } from '../../clients/sql/name-text.ts';
import type { FileConnection, SqliteStatement } from '../../clients/sqlite/connection.ts';
import type { Claim, HeldStatus } from '../../contract/store.ts';
import { originOf, toTakeover, toUs } from './rows.ts';

/** Values of the source, now, base. */
const enterFrom = (source: string): string => `INSERT INTO holdfast_claim
  (resource, id, lim, ttl, origin, kind, permits, seq, expires, place, admitted, told)
  SELECT j.*, base + n.now, n.now + j.ttl, 0, 1, 0
  FROM (${source}) j, (SELECT ? AS now, ? AS base_known) n, holdfast_meta
  WHERE base = n.base_known
  AND NOT EXISTS (SELECT 1 FROM holdfast_claim c
    WHERE c.resource = j.resource AND (c.place > 0 OR c.admitted = 1))
  AND NOT EXISTS (SELECT 1 FROM holdfast_tombstone t WHERE t.id = j.id AND t.until > n.now)
  ON CONFLICT (resource, place) DO UPDATE SET
    (id, lim, ttl, origin, kind, permits, seq, expires, admitted) = (excluded.id, excluded.lim,
      excluded.ttl, excluded.origin, excluded.kind, excluded.permits, excluded.seq,
      excluded.expires, excluded.admitted)
  WHERE admitted = 0 AND seq < excluded.seq`;

/** Values of the match, now, now. */
const leaveWhere = (match: string): string => `DELETE FROM holdfast_claim AS c
  WHERE ${match} AND admitted = 1 AND sealed IS NULL AND expires > ?
  AND NOT EXISTS (SELECT 1 FROM holdfast_claim o WHERE o.resource = c.resource
    AND o.place <> c.place AND (o.admitted = 0 OR o.sealed IS NOT NULL OR o.expires <= ?))`;

const SQL = {
  /** Resource, id, lim, ttl, origin, kind, permits. */
  enter: enterFrom(`SELECT ? AS resource, ? AS id, ? AS lim, ? AS ttl, ? AS origin, ? AS kind,
    ? AS permits`),
  /** JSON of lists of the same. */
  enterAll: enterFrom(`SELECT value->>0 AS resource, value->>1 AS id, value->>2 AS lim,
    value->>3 AS ttl, value->>4 AS origin, value->>5 AS kind, value->>6 AS permits
    FROM json_each(?)`),
  /** Number, id, ttl, origin, expires, resource, number. */
  take: `UPDATE holdfast_claim SET seq = ?, id = ?, ttl = ?, origin = ?, expires = ?, admitted = 1
    WHERE resource = ? AND place = 0 AND admitted = 0 AND seq < ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_tombstone)`,
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
  /** Resource, id, now. */
  leaveFree: `UPDATE holdfast_claim AS c SET admitted = 0
    WHERE resource = ? AND place = 0 AND id = ? AND admitted = 1 AND sealed IS NULL AND expires > ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim o WHERE o.resource = c.resource AND o.place > 0)`,
} as const;

/** How many names of mutexes a process keeps in mind. */
const MOST_LEFT = 1_000;

/** When a step is made, and by which process. */
export interface Now {
  readonly now: number;
  readonly base: number;
  readonly address: string;
}

export class Quiet {
  readonly #connection: FileConnection;
  readonly #sql: Readonly<Record<keyof typeof SQL, SqliteStatement>>;
  /** Mutexes that this process has left lately: true for those whose row has stayed. */
  readonly #left = new Map<string, boolean>();

  constructor(connection: FileConnection) {
    this.#connection = connection;
    this.#sql = connection.prepareAll(SQL);
  }

  /** Takes a mutex whose row has stayed; undefined unless it is free. */
  take(claim: Claim, at: Now): HeldStatus | undefined {
    const { resource, id, ttlMs, holder } = claim;
    if (!isMutex(claim) || !this.#left.get(resource)) return undefined;
    const number = at.base + at.now;
    const ttl = toUs(ttlMs);
    const values = [number, id, ttl, originOf(at.address, holder), at.now + ttl] as const;
    const taken = this.#connection.change(this.#sql.take, ...values, toText(resource), number);
    if (taken > 0) return aloneFor(ttlMs, number);
    this.#left.delete(resource);
    return undefined;
  }

  /** Claims that entered empty queues: all of them, or none is known to have. */
  enter(claims: readonly Claim[], { now, base, address }: Now): Map<string, HeldStatus> {
    const fit = claims.filter((claim) => claim.permits <= claim.limit);
    const rows = fit.map(({ resource, id, limit, ttlMs, holder, kind, permits }) => {
      const texts = [toText(resource), id] as const;
      return [...texts, limit, toUs(ttlMs), originOf(address, holder), kind, permits] as const;
    });
    const [only] = rows;
    if (!only) return new Map();
    const { changes } =
      rows.length === 1
        ? this.#sql.enter.run(...only, now, base)
        : this.#sql.enterAll.run(JSON.stringify(rows), now, base);
    if (Number(changes) < fit.length) return new Map();
    return new Map(fit.map(({ id, ttlMs }) => [id, aloneFor(ttlMs, base + now)]));
  }

  renew(claims: readonly Claim[], { now }: Now): Map<string, HeldStatus> {
    if (claims.length === 0) return new Map();
    const ends = claims.map(({ resource, id, ttlMs }) => [toText(resource), id, now + toUs(ttlMs)]);
    const rows = this.#sql.renewAll.all(JSON.stringify(ends), now, now) as Renewed[];
    const lives = new Map(claims.map(({ id, ttlMs }) => [id, ttlMs]));
    const statuses = rows.map(({ id, seq, took, took_seq }): [string, HeldStatus] => {
      const takeover = toTakeover(took, took_seq);
      return [id, { ...aloneFor(lives.get(id) as number, seq), takeover }];
    });
    return new Map(statuses);
  }

  /** The claims that left without a wake for another claim, by id. */
  leave(claims: readonly Claim[], now: number): Map<string, true> {
    const [only, more] = claims;
    if (!only) return new Map();
    if (!more) return new Map(this.leaveAlone(only, now) ? [[only.id, true]] : []);
    const names = JSON.stringify(claims.map(({ resource }) => toText(resource)));
    const ids = JSON.stringify(claims.map(({ id }) => id));
    const left = this.#sql.leaveAll.all(names, ids, now, now) as { id: string }[];
    for (const { resource } of claims) this.#left.delete(resource);
    return new Map(left.map(({ id }) => [id, true]));
  }

  /** True if it left without a wake for another claim. */
  leaveAlone(claim: Claim, now: number): boolean {
    const { resource, id } = claim;
    // A row that is left to a claim that never comes would only have to be swept.
    const again = isMutex(claim) && this.#left.has(resource);
    const { leaveFree, leave } = this.#sql;
    const left = again
      ? this.#connection.change(leaveFree, toText(resource), id, now)
      : this.#connection.change(leave, toText(resource), id, now, now);
    if (this.#left.size >= MOST_LEFT) this.#left.clear();
    if (left > 0) this.#left.set(resource, again);
    else this.#left.delete(resource);
    return left > 0;
  }
}

interface Renewed {
  readonly id: string;
  readonly seq: number;
  readonly took: string | null;
  readonly took_seq: number | null;
}

function isMutex({ kind, permits, limit }: Claim): boolean {
  return kind === 'mutex' && permits === 1 && limit === 1;
}

function aloneFor(leftMs: number, seq: number): HeldStatus {
  const token = BigInt(seq);
  return { state: 'held', token, leftMs, waiters: 0, takeover: undefined, limit: undefined };
}
