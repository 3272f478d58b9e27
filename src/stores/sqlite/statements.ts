/**
 * All statements on queues, with their parameters in the order of the question marks.
 *
 * Those up to `leaveQuietAll` do whole verbs for claims that concern no other claim: none waits,
 * none is dead, the base has not changed. For what they leave undone, the queue is read.
 */
import type { Client, SqliteStatement } from './client.ts';

const CHANGING = 'kind, permits, expires, admitted, told, sealed, took, took_seq';

const INSERT = `INSERT INTO holdfast_claim
  (resource, seq, id, lim, ttl, address, holder, ${CHANGING})`;

/** One JSON text, because bindings take longer to make objects than SQLite takes to read. */
const rows = (ahead: string): string =>
  `json_group_array(json_array(seq, id, lim, ttl, address, holder, ${ahead}, ${CHANGING}))`;

const COLUMNS = `seq, id, lim, ttl, address, ${CHANGING}`;

const SQL: Record<Name, string> = {
  /** Row values up to `expires`; base, resource, id, now. */
  enterEmpty: `${INSERT}
    SELECT ?,?,?,?,?,?,?,?,?,?, 1, 0, NULL, NULL, NULL FROM holdfast_meta WHERE base = ?
    AND NOT EXISTS (SELECT 1 FROM holdfast_claim WHERE resource = ?)
    AND NOT EXISTS (SELECT 1 FROM holdfast_tombstone WHERE id = ? AND until > ?)`,

  /** Seq, address, now, JSON [[resource, id, lim, ttl, holder, kind, permits]], base, now. */
  enterEmptyAll: `${INSERT}
    SELECT j.value->>0, ?, j.value->>1, j.value->>2, j.value->>3, ?, j.value->>4, j.value->>5,
      j.value->>6, ? + (j.value->>3), 1, 0, NULL, NULL, NULL
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

  /**
   * 1 to read holders, resource, resource, how many: the base, and the rows up to the first waiter
   * after so many.
   */
  read: `SELECT (SELECT base FROM holdfast_meta) AS base, ${rows('NULL')} AS rows FROM
    (SELECT ${COLUMNS}, iif(?, holder, NULL) AS holder FROM holdfast_claim WHERE resource = ?
      AND seq <= ifnull((SELECT seq FROM holdfast_claim WHERE resource = ? AND admitted = 0
        ORDER BY seq LIMIT 1 OFFSET ?), ${Number.MAX_SAFE_INTEGER})
      ORDER BY seq)`,

  /**
   * Resource, JSON [seq], how many ids, resource, edge, JSON [id], resource, resource, now,
   * waiters up to the edge, resource, edge, now, how many to count, resource, edge: of the rows
   * behind the edge those at these places or with these ids, and the last; and the nearest before
   * each that is alive.
   */
  readBehind: `WITH
    named AS (
      SELECT seq FROM holdfast_claim
        WHERE resource = ? AND seq IN (SELECT value FROM json_each(?))
      UNION SELECT seq FROM holdfast_claim
        WHERE ? AND resource = ? AND seq > ? AND id IN (SELECT value FROM json_each(?))
      UNION SELECT max(seq) FROM holdfast_claim WHERE resource = ?),
    chosen AS (
      SELECT seq FROM named
      UNION SELECT (SELECT max(seq) FROM holdfast_claim
        WHERE resource = ? AND seq < named.seq AND expires > ?) FROM named)
    SELECT ${rows('ahead')} AS rows FROM (
      SELECT ${COLUMNS}, NULL AS holder, ? + (SELECT count(*) FROM (
          SELECT 1 FROM holdfast_claim
          WHERE resource = ? AND seq > ? AND seq < c.seq AND expires > ? LIMIT ?
        )) AS ahead
      FROM holdfast_claim c WHERE resource = ? AND seq > ? AND seq IN (SELECT seq FROM chosen)
      ORDER BY seq)`,

  /** Id. */
  tombstone: 'SELECT why, until FROM holdfast_tombstone WHERE id = ?',

  /** Row values. */
  enter: `${INSERT} VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
  /** Values that change, resource, seq. */
  change: `UPDATE holdfast_claim SET (${CHANGING}) = (?,?,?,?,?,?,?,?)
    WHERE resource = ? AND seq = ?`,
  /** Resource, seq. */
  remove: 'DELETE FROM holdfast_claim WHERE resource = ? AND seq = ?',
  /** Id, why, until. */
  bury: `INSERT INTO holdfast_tombstone (id, why, until) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET why = excluded.why, until = excluded.until`,

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

export type Statements = Readonly<Record<Name, SqliteStatement>>;

type Name =
  | 'enterEmpty'
  | 'enterEmptyAll'
  | 'enteredAt'
  | 'renewQuiet'
  | 'leaveQuiet'
  | 'leaveQuietAll'
  | 'read'
  | 'readBehind'
  | 'tombstone'
  | 'enter'
  | 'change'
  | 'remove'
  | 'bury'
  | 'names'
  | 'ids'
  | 'addresses'
  | 'refresh'
  | 'sweepTombstones'
  | 'sweepClaims';

export function prepareAll(client: Client): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, client.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}
