/** All statements on the tables, each one transaction. */
import { CHANNEL } from '../sql/link.ts';
import { COLUMNS } from '../sql/row.ts';
import { DURABLE, NOW, type PostgresTables } from './fragments.ts';
import * as holding from './holding.ts';

const READ = ['name', 'rev', ...COLUMNS].map((column) => `l.${column}`).join(', ');

/** By name; `schema` is quoted. */
export function statementsOf(schema: string): Readonly<Record<string, string>> {
  const of = (table: string): string => `${schema}.${table}`;
  const [lock, store] = [of('lock'), of('store')];
  const tables = { lock, store, witness: of('witness'), kept: of('kept') };
  return {
    take_free: holding.takeFree(tables),
    take_again: holding.takeAgain(tables),
    take: holding.take(tables),
    take_all: holding.takeAll(tables),
    beat: holding.beat(tables),
    leave_free: holding.leaveFree(tables),
    leave: holding.leave(tables),
    leave_all: holding.leaveAll(tables),
    read: reading(tables, `${lock} l ON l.name = ANY ($1::text[])`),
    write: write(tables, ''),
    write_all: write(tables, 'SKIP LOCKED'),
    lock: lockRows(tables),
    write_locked: `${write(tables, '')}; COMMIT`,
    rollback: 'ROLLBACK',
    keep: keep(tables),
    recall: recall(tables),
    names: names(tables),
    raise_highest: raiseHighest(tables),
    sweep: sweep(tables),
  };
}

/** Reads in line for the rows, which others cannot change before the end of the transaction. */
function lockRows(tables: PostgresTables): string {
  return `
WITH l AS MATERIALIZED (
  SELECT * FROM ${tables.lock} WHERE name = ANY ($1::text[]) ORDER BY name FOR UPDATE
)${reading(tables, 'l ON true')}`;
}

/** Without what the store knows, where this has to be settled first. */
function reading({ witness }: PostgresTables, rows: string): string {
  return `
SELECT json_build_array(t.now, w.open_at, w.highest, ${READ})
FROM (SELECT ${NOW} AS now OFFSET 0) AS t
LEFT JOIN ${witness} w
  ON w.written = w.xmin AND w.max_ttl >= $2::bigint AND w.fast >= $3::boolean
LEFT JOIN ${rows}`;
}

/** Writes what is still as it was read, and sends the wakes for what is written. */
function write({ lock }: PostgresTables, only: string): string {
  return `
WITH asked AS MATERIALIZED (
  SELECT * FROM pg_catalog.json_populate_recordset(NULL::${lock}, $1::json)
), free AS MATERIALIZED (
  SELECT l.name FROM ${lock} l JOIN asked a ON a.name = l.name AND a.rev = l.rev
  ORDER BY l.name FOR UPDATE OF l ${only}
), changed AS (
  UPDATE ${lock} l SET rev = l.rev + 1,
    ${COLUMNS.map((column) => `${column} = a.${column}`).join(', ')}
  FROM asked a WHERE l.name = a.name AND l.rev = a.rev AND a.name IN (SELECT name FROM free)
  RETURNING l.name
), made AS (
  INSERT INTO ${lock} AS l (name, rev, ${COLUMNS.join(', ')})
  SELECT a.name, ${NOW}, ${COLUMNS.map((column) => `a.${column}`).join(', ')} FROM asked a
  WHERE a.rev = 0 ORDER BY a.name COLLATE "C"
  ON CONFLICT DO NOTHING RETURNING l.name
), done AS MATERIALIZED (SELECT name FROM changed UNION ALL SELECT name FROM made)
SELECT d.name, (
  SELECT count(pg_notify('${CHANNEL}' || n.address, n.message)::text)
  FROM json_to_recordset($2::json) AS n (name text, address text, message text)
  WHERE n.name = d.name
) FROM done d`;
}

function keep({ lock, kept }: PostgresTables): string {
  return `
WITH ${DURABLE}, held AS MATERIALIZED (
  SELECT l.name FROM ${lock} l, durable WHERE l.name = $1::text
    AND CASE $3::bigint WHEN 0 THEN l.id = $2::text AND l.until > ${NOW} ELSE l.rev = $3::bigint END
  FOR UPDATE OF l
), put AS (
  INSERT INTO ${kept} AS k (name, content, until)
  SELECT h.name, $4::text, ${NOW} + $5::bigint * 1000 FROM held h
  ON CONFLICT (name) DO UPDATE SET content = excluded.content, until = excluded.until
), gone AS (
  DELETE FROM ${kept} WHERE name <> $1::text AND name IN (${over(kept, '2')})
)
SELECT name FROM held`;
}

function over(kept: string, most: string): string {
  return `
    SELECT name FROM ${kept} WHERE until <= ${NOW} ORDER BY until LIMIT ${most}
    FOR UPDATE SKIP LOCKED
  `;
}

function recall({ kept }: PostgresTables): string {
  return `
SELECT ceil((k.until - ${NOW}) / 1000.0) || ' ' || k.content
FROM ${kept} k WHERE k.name = $1::text AND k.until > ${NOW}`;
}

function names({ lock }: PostgresTables): string {
  return `
SELECT json_build_array(${NOW}, 0, 0, ${READ}) FROM ${lock} l
WHERE l.name >= $1::text AND (l.id IS NOT NULL OR l.state IS NOT NULL)
ORDER BY l.name LIMIT $2::integer`;
}

function raiseHighest({ store, witness }: PostgresTables): string {
  return `
WITH raised AS (
  UPDATE ${store} SET highest = greatest(highest, ${NOW} - $1::bigint) RETURNING highest
)
UPDATE ${witness} w SET highest = r.highest, written = pg_current_xact_id()::xid
FROM raised r WHERE w.written = w.xmin`;
}

function sweep({ lock, store, kept }: PostgresTables): string {
  return `
WITH seen AS MATERIALIZED (
  SELECT l.name, l.until FROM ${lock} l WHERE l.name > $1::text ORDER BY l.name LIMIT $2::integer
), idle AS MATERIALIZED (
  SELECT l.name FROM ${lock} l, ${store} s
  WHERE l.name IN (SELECT name FROM seen WHERE until < ${NOW} - $3::bigint)
    AND l.until < ${NOW} - $3::bigint - CASE WHEN l.waiters > 0 THEN s.max_ttl ELSE 0 END
    AND l.last <= s.highest
  FOR UPDATE OF l SKIP LOCKED
), gone AS (
  DELETE FROM ${lock} l USING idle i WHERE l.name = i.name
), forgotten AS (
  DELETE FROM ${kept} WHERE name IN (${over(kept, '$2::integer')})
)
SELECT name FROM (SELECT max(name) AS name, count(*) AS count FROM seen) AS portion
WHERE count = $2::integer`;
}
