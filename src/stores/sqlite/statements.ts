/**
 * All statements on queues, with their parameters in the order of the question marks.
 *
 * Those up to `leaveQuietAll` do whole verbs for claims that concern no other claim: none waits,
 * none is dead, the base has not changed. What they leave undone goes the long way, queue by queue.
 */
import type { Client, SqliteStatement } from './client.ts';

/** A claim without the holder, which only people read. */
export interface Row {
  readonly resource: string;
  readonly seq: number;
  readonly id: string;
  readonly kind: string;
  readonly permits: number;
  readonly lim: number;
  readonly ttl: number;
  readonly expires: number;
  readonly admitted: number;
  readonly told: number;
  readonly sealed: string | null;
  readonly took: string | null;
  readonly took_seq: number | null;
  readonly address: string;
}

const COLUMNS =
  'c.resource, c.seq, c.id, c.kind, c.permits, c.lim, c.ttl, c.expires, c.admitted, c.told,' +
  ' c.sealed, c.took, c.took_seq, c.address';

const INSERT = `INSERT INTO holdfast_claim
  (resource, seq, id, kind, permits, lim, ttl, expires, holder, address,
  admitted, told, took, took_seq)`;

const SQL: Record<Name, string> = {
  /** Row values up to `address`; base, resource, id, now. */
  enterEmpty: `${INSERT}
    SELECT ?,?,?,?,?,?,?,?,?,?, 1, 0, NULL, NULL FROM holdfast_meta WHERE base = ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim WHERE resource = ?)
    AND NOT EXISTS (SELECT 1 FROM holdfast_tombstone WHERE id = ? AND until > ?)`,

  /** Seq, now, address, JSON [[resource, id, kind, permits, lim, ttl, holder]], base, now. */
  enterEmptyAll: `${INSERT}
    SELECT j.value->>0, ?, j.value->>1, j.value->>2, j.value->>3, j.value->>4,
      j.value->>5, ? + (j.value->>5), j.value->>6, ?, 1, 0, NULL, NULL
    FROM json_each(?) j, holdfast_meta WHERE base = ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim WHERE resource = j.value->>0)
    AND NOT EXISTS (SELECT 1 FROM holdfast_tombstone WHERE id = j.value->>1 AND until > ?)
    ON CONFLICT DO NOTHING`,
  /** The same JSON, seq: the ids of those that entered. */
  enteredAt: `SELECT c.id FROM json_each(?) j CROSS JOIN holdfast_claim c
    ON c.resource = j.value->>0 AND c.id = j.value->>1 AND c.seq = CAST(? AS INTEGER)`,

  /** JSON [[resource, seq, id, expires]], now, now. */
  renewQuiet: `UPDATE holdfast_claim AS c SET expires = j.until
    FROM (SELECT value->>0 AS name, CAST(value->>1 AS INTEGER) AS place, value->>2 AS secret,
      value->>3 AS until FROM json_each(?)) j
    WHERE c.resource = j.name AND c.seq = j.place AND c.id = j.secret
    AND c.admitted = 1 AND c.sealed IS NULL AND c.expires > ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim o WHERE o.resource = c.resource
      AND (o.admitted = 0 OR o.expires <= ? OR o.lim < c.lim))
    RETURNING id, seq, took, took_seq`,

  /** Resource, seq, id, now, resource, seq, now. */
  leaveQuiet: `DELETE FROM holdfast_claim
    WHERE resource = ? AND seq = ? AND id = ? AND sealed IS NULL AND expires > ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim
      WHERE resource = ? AND seq <> ?
      AND (admitted = 0 OR sealed IS NOT NULL OR expires <= ?))`,

  /** JSON [[resource, seq, id]], now, now. */
  leaveQuietAll: `DELETE FROM holdfast_claim AS c
    WHERE (resource, seq, id) IN (
      SELECT value->>0, CAST(value->>1 AS INTEGER), value->>2 FROM json_each(?))
    AND sealed IS NULL AND expires > ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim o
      WHERE o.resource = c.resource AND o.seq <> c.seq
      AND (o.admitted = 0 OR o.sealed IS NOT NULL OR o.expires <= ?))
    RETURNING id`,

  base: 'SELECT base FROM holdfast_meta',
  /** Row values up to `took_seq`. */
  enter: `${INSERT} VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
  /**
   * Resource, how many: the first rows of a queue, dead ones too, as one JSON text, because
   * bindings take longer to make objects than SQLite takes to read.
   */
  start: `SELECT json_group_array(json_array(seq, id, kind, permits, lim, ttl, expires, admitted,
    told, sealed, took, took_seq, address)) AS rows
    FROM (SELECT seq, id, kind, permits, lim, ttl, expires, admitted, told, sealed, took, took_seq,
      address FROM holdfast_claim WHERE resource = ? ORDER BY seq LIMIT ?)`,
  bySeq: `SELECT ${COLUMNS} FROM holdfast_claim c WHERE resource = ? AND seq = ?`,
  byId: `SELECT ${COLUMNS} FROM holdfast_claim c WHERE resource = ? AND id = ?
    ORDER BY seq DESC LIMIT 1`,
  /** Resource, after which seq, now, how many: waiters and dead claims in order. */
  front: `SELECT ${COLUMNS} FROM holdfast_claim c
    WHERE resource = ? AND seq > ? AND (admitted = 0 OR expires <= ?) ORDER BY seq LIMIT ?`,
  /** Resource, before which seq, now: what the admitted use. */
  admitted: `SELECT coalesce(sum(permits), 0) AS used, min(lim) AS lim FROM holdfast_claim
    WHERE resource = ? AND seq < ? AND admitted = 1 AND expires > ?`,
  /** Resource, now. */
  holders: `SELECT ${COLUMNS} FROM holdfast_claim c
    WHERE resource = ? AND admitted = 1 AND expires > ?`,
  /** Resource, now. */
  firstKind: `SELECT kind FROM holdfast_claim WHERE resource = ? AND expires > ?
    ORDER BY seq LIMIT 1`,
  lastSeq: 'SELECT max(seq) AS seq FROM holdfast_claim WHERE resource = ?',
  /** Resource, now, the most to count. */
  waiters: `SELECT count(*) AS n FROM (SELECT 1 FROM holdfast_claim
    WHERE resource = ? AND admitted = 0 AND expires > ? LIMIT ?)`,
  /** Resource, seq, now, the most to count. */
  ahead: `SELECT count(*) AS n FROM (SELECT 1 FROM holdfast_claim
    WHERE resource = ? AND seq < ? AND expires > ? LIMIT ?)`,
  /** Resource, seq, now. */
  before: `SELECT admitted, expires FROM holdfast_claim
    WHERE resource = ? AND seq < ? AND expires > ? ORDER BY seq DESC LIMIT 1`,
  /** Resource, seq, now. */
  firstDeath: `SELECT min(expires) AS expires FROM holdfast_claim
    WHERE resource = ? AND seq < ? AND expires > ?`,

  /** Took, took_seq, resource, seq. */
  admit: `UPDATE holdfast_claim SET admitted = 1, took = ?, took_seq = ?
    WHERE resource = ? AND seq = ?`,
  tell: 'UPDATE holdfast_claim SET told = 1 WHERE resource = ? AND seq = ?',
  /** Expires, resource, seq. */
  extend: 'UPDATE holdfast_claim SET expires = ? WHERE resource = ? AND seq = ?',
  /** Why, expires, resource, seq. */
  seal: 'UPDATE holdfast_claim SET sealed = ?, expires = ? WHERE resource = ? AND seq = ?',
  downgrade: `UPDATE holdfast_claim SET kind = 'read', permits = 1 WHERE resource = ? AND seq = ?`,
  remove: 'DELETE FROM holdfast_claim WHERE resource = ? AND seq = ?',
  /** Resource, up to which seq, now, all but this seq. */
  removeDead: `DELETE FROM holdfast_claim
    WHERE resource = ? AND seq <= ? AND expires <= ? AND seq <> ?`,

  /** Id, now. */
  tombstone: 'SELECT why FROM holdfast_tombstone WHERE id = ? AND until > ?',
  /** Id, why, until. */
  bury: `INSERT INTO holdfast_tombstone (id, why, until) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET why = excluded.why, until = excluded.until`,

  /** Resource, now. */
  queue: `SELECT seq, kind, permits, lim, ttl, expires, admitted, holder FROM holdfast_claim
    WHERE resource = ? AND expires > ? ORDER BY seq`,
  /** From which name on, now, how many. */
  names: `SELECT DISTINCT resource FROM holdfast_claim WHERE resource >= ? AND expires > ?
    ORDER BY resource LIMIT ?`,
  ids: 'SELECT id FROM holdfast_claim WHERE address = ?',
  addresses: 'SELECT DISTINCT address FROM holdfast_claim WHERE expires > ?',

  /** Now. */
  refresh: 'UPDATE holdfast_meta SET highest = max(highest, base + ?)',
  /** Now. */
  sweepTombstones: 'DELETE FROM holdfast_tombstone WHERE until <= ?',
  /** Dead since before this. */
  sweepClaims: 'DELETE FROM holdfast_claim WHERE expires <= ?',
};

export type Statements = Record<Name, SqliteStatement>;

type Name =
  | 'enterEmpty'
  | 'enterEmptyAll'
  | 'renewQuiet'
  | 'leaveQuiet'
  | 'leaveQuietAll'
  | 'base'
  | 'enteredAt'
  | 'enter'
  | 'start'
  | 'bySeq'
  | 'byId'
  | 'front'
  | 'admitted'
  | 'holders'
  | 'firstKind'
  | 'lastSeq'
  | 'waiters'
  | 'ahead'
  | 'before'
  | 'firstDeath'
  | 'admit'
  | 'tell'
  | 'extend'
  | 'seal'
  | 'downgrade'
  | 'remove'
  | 'removeDead'
  | 'tombstone'
  | 'bury'
  | 'queue'
  | 'names'
  | 'addresses'
  | 'ids'
  | 'refresh'
  | 'sweepTombstones'
  | 'sweepClaims';

export function prepareAll(client: Client): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, client.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}
