/**
 * The statements on the row of a lock, in each database's SQL.
 *
 * All times are by the database's clock, in UTC and without a zone, as in those libraries.
 * PostgreSQL inserts or takes over in one statement; MySQL has no condition there, so it gets two,
 * the likelier one first. The row alone decides each, so either may succeed.
 * A `TIMESTAMP` of MySQL is read in the zone of each session, and a pool's sessions may differ. So
 * the session's offset is in its statements: with another one they fail, before they write.
 */
import type { Dialect, Piece } from '../../clients/sql/sql.ts';
import type { RowLayout } from './layout.ts';

/** The row of one lock, and who wants it. */
export interface RowClaim {
  readonly key: readonly string[];
  readonly holder: string;
}

/** All spans are in ms from the database's now. */
export interface RowStatements {
  /** The first that writes a row has taken the lock; a lease that ended before `deadMs` is over. */
  take(place: RowClaim, untilMs: number, deadMs: number): readonly Piece[];
  /** The holder, and how many ms are left. */
  look(key: readonly string[]): Piece;
  /** Gives the row this holder until then, if its lease ends after `aliveMs`. */
  update(place: RowClaim, to: string, untilMs: number, aliveMs: number): Piece;
  /** On the same condition; without one, whatever its end. */
  remove(place: RowClaim, aliveMs?: number): Piece;
}

const NOW: Readonly<Record<Dialect, string>> = {
  postgres: "timezone('utc', clock_timestamp())",
  mysql: 'UTC_TIMESTAMP(6)',
};

/** Fails with `ANOTHER_ZONE` in a session of another offset from UTC, in seconds. */
function nowAt(offset: number): string {
  const same = `TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW()) = ${offset}`;
  const twoRows = `(SELECT ${NOW.mysql} UNION ALL SELECT ${NOW.mysql})`;
  return `IF(${same}, ${NOW.mysql}, ${twoRows})`;
}

/** MySQL's and MariaDB's error for several rows in the place of a value. */
export const ANOTHER_ZONE = 1242;

/** The moment that is this many µs from now. */
function shiftedFrom(now: string, dialect: Dialect): string {
  return dialect === 'postgres'
    ? `${now} + CAST(? AS bigint) * interval '1 microsecond'`
    : `TIMESTAMPADD(MICROSECOND, CAST(? AS SIGNED), ${now})`;
}

function msUntil(column: string, now: string, dialect: Dialect): string {
  return dialect === 'postgres'
    ? `CAST(extract(epoch FROM ${column} - ${now}) * 1000 AS text)`
    : `CAST(TIMESTAMPDIFF(MICROSECOND, ${now}, ${column}) / 1000 AS char)`;
}

/** @param offset of the sessions that may send them, if the table depends on it. */
export function statementsFor(
  layout: RowLayout,
  dialect: Dialect,
  offset: number | undefined,
): RowStatements {
  const { table, key, holder, until, since } = layout;
  const now = offset === undefined ? NOW[dialect] : nowAt(offset);
  const shifted = shiftedFrom(now, dialect);
  const sinceNow = since === undefined ? '' : `, ${since} = ${now}`;
  const where = key.map((column) => `${column} = ?`).join(' AND ');
  const columns = [...key, holder, until, ...(since === undefined ? [] : [since])].join(', ');
  const row = [...key.map(() => '?'), '?', shifted, ...(since === undefined ? [] : [now])];
  const insert = `INSERT INTO ${table} (${columns}) VALUES (${row.join(', ')})`;
  const upsert = `INSERT INTO ${table} AS held (${columns}) VALUES (${row.join(', ')})
ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${holder} = EXCLUDED.${holder},
  ${until} = EXCLUDED.${until}${sinceNow} WHERE held.${until} < ${shifted}`;
  const over = `UPDATE ${table} SET ${holder} = ?, ${until} = ${shifted}${sinceNow}
WHERE ${where} AND ${until} < ${shifted}`;
  const own = `${where} AND ${holder} = ?`;
  const alive = `${until} > ${shifted}`;
  const look = `SELECT ${holder} AS "holder", ${msUntil(until, now, dialect)} AS "left"
FROM ${table} WHERE ${where}`;
  return {
    take({ key, holder }, untilMs, deadMs) {
      const [end, dead] = [micros(untilMs), micros(deadMs)];
      const inserted = [...key, holder, end];
      if (dialect === 'postgres') return [{ sql: upsert, values: [...inserted, dead] }];
      const both = [
        { sql: insert, values: inserted },
        { sql: over, values: [holder, end, ...key, dead] },
      ];
      return layout.stays ? both.reverse() : both;
    },
    look: (key) => ({ sql: look, values: key }),
    update: ({ key, holder: from }, to, untilMs, aliveMs) => ({
      sql: `UPDATE ${table} SET ${holder} = ?, ${until} = ${shifted} WHERE ${own} AND ${alive}`,
      values: [to, micros(untilMs), ...key, from, micros(aliveMs)],
    }),
    remove: ({ key, holder: from }, aliveMs) => ({
      sql: `DELETE FROM ${table} WHERE ${own}${aliveMs === undefined ? '' : ` AND ${alive}`}`,
      values: [...key, from, ...(aliveMs === undefined ? [] : [micros(aliveMs)])],
    }),
  };
}

function micros(ms: number): number {
  return Math.round(ms * 1000);
}
