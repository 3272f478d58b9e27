/** The statements that read the tables, and those that write the results of `src/queue`. */
import { literal } from '../../clients/mysql/connection.ts';
import type { TextRow } from '../../clients/sql/session.ts';
import type { LockWrite, SentWake } from '../sql/applying.ts';
import { COLUMNS } from '../sql/row.ts';
import {
  BEGAN,
  BY_NAME,
  HELD_CLAIM,
  HELD_LINE,
  isOf,
  listOf,
  type MysqlTables,
  NEXT_LINE,
  NOW,
  wordOf,
} from './fragments.ts';
import { intact, type KnownHistory, WRITABLE } from './history.ts';

const READ = ['CONVERT(l.name USING utf8mb4)', ...['rev', ...COLUMNS].map((name) => `l.${name}`)];

/** A moment and a row; a text, because clients read JSON in different ways. */
function lineOf(moment: string): string {
  return `CONCAT(JSON_ARRAY(${moment}, ${READ.join(', ')}))`;
}

/** How long wakes are found, in µs. */
const WAKES_KEPT = 60_000_000;

/** The address of the process of the claim that holds, and what wakes it. */
export function holderOf({ lock }: MysqlTables, name: string): string {
  return `SELECT CONCAT_WS(' ', tag, SUBSTRING(told, 18), ${HELD_LINE}) FROM ${lock}
WHERE name = ${literal(name)} AND told IS NOT NULL`;
}

/** The same of the claim that waits first. */
export function nextOf({ lock }: MysqlTables, name: string): string {
  return `SELECT CONCAT_WS(' ', ${wordOf(1, 5)}, SUBSTRING(next_told, 18), ${NEXT_LINE})
FROM ${lock} WHERE name = ${literal(name)} AND next_told IS NOT NULL AND waiters > 0`;
}

export function heldOf({ lock }: MysqlTables, name: string, id: string): string {
  return `SELECT ${HELD_CLAIM} FROM ${lock} l
WHERE l.name = ${literal(name)} AND l.id = ${literal(id)}`;
}

/** Without what the store knows, where this has to be settled first. */
export function read(
  { lock, store }: MysqlTables,
  names: readonly string[],
  known: KnownHistory,
): string {
  return `SELECT ${lineOf('t.now, s.open_at, s.highest')}
FROM (SELECT ${NOW} AS now LIMIT 1) AS t
LEFT JOIN ${store} s ON s.only_row = TRUE AND ${intact(known)}
LEFT JOIN ${lock} l ON l.name IN (${listOf(names)})`;
}

/**
 * The same in a transaction of its own, in which others cannot change the rows. One that is made
 * between the two statements is not locked: then it shows none of them, as if none were there.
 * Where a program stands still in it, the server ends its session.
 */
export function lockRows(
  tables: MysqlTables,
  names: readonly string[],
  known: KnownHistory,
): string {
  return `SET SESSION wait_timeout = 2; START TRANSACTION;
SELECT COUNT(*) INTO @holdfast FROM ${tables.lock} ${BY_NAME} WHERE ${isOf(names)}
FOR UPDATE NOWAIT;
${read(tables, names, known)} AND @holdfast = ${names.length}`;
}

export const AFTER_LOCK = 'SET SESSION wait_timeout = DEFAULT';

/** As `textsOf` of the SQL stores writes them. */
export type RowWrite = Pick<LockWrite, 'name' | 'rev'> & Readonly<Record<string, SqlValue>>;
export type RowWake = SentWake & { readonly name: string };
type SqlValue = string | number | null;

/** For each row: whether it is free, wakes of before, the row, and wakes if it was written. */
const PER_ROW = 4;
const WRITTEN = 2;

/**
 * Writes what is still as it was read, with its wakes. Wakes of before are not lost, which may not
 * have reached their process: a plain row keeps those of a claim that stays where it is, and those
 * in other rows are to be asked about.
 */
export function write(
  { lock, news: table }: MysqlTables,
  rows: readonly RowWrite[],
  wakes: readonly RowWake[],
): string {
  const wait = rows.length > 1 ? 'SKIP LOCKED' : 'NOWAIT';
  const all = rows.map(({ name, rev, ...columns }) => {
    const key = literal(name);
    const values = COLUMNS.map((column) => written(columns[column] ?? null));
    const own = wakes.filter((each) => each.name === name);
    const set = COLUMNS.map((column, n) => `${column} = ${values[n]}`).join(', ');
    const [, , first = ''] = String(columns.crowd).split('\t');
    const still = `@holdfast > 0 AND name = ${key} AND rev = ${rev}`;
    return `SELECT COUNT(*) INTO @holdfast FROM ${lock} WHERE name = ${key} AND rev = ${rev}
FOR UPDATE ${wait};
${columns.state === null ? 'DO 0' : askAbout({ lock, news: table }, still)};
${
  rev === 0
    ? `INSERT IGNORE INTO ${lock} (name, rev, ${COLUMNS.join(', ')})
SELECT ${key}, ${NOW}, ${values.join(', ')} FROM DUAL WHERE ${WRITABLE}`
    : `UPDATE ${lock} SET told = IF(id = ${written(columns.id ?? null)}, told, NULL),
  next_told = IF(${wordOf(1, 3)} = ${literal(first)}, next_told, NULL), ${set}, rev = rev + 1
WHERE ${still} AND ${WRITABLE}`
};
${own.length === 0 ? 'DO 0' : insertWakes(table, own)}`;
  });
  return all.join(';\n');
}

/** Keeps wakes of one moment apart. */
function nthOf(): number {
  return Math.floor(Math.random() * 2 ** 52);
}

/** Writes the wakes in a plain row down elsewhere, with their times, by which each wakes once. */
function askAbout({ lock, news }: Pick<MysqlTables, 'lock' | 'news'>, which: string): string {
  const both = [
    ['told', 'tag'],
    ['next_told', wordOf(1, 5)],
  ].map(([column, tag]) => {
    return `SELECT SUBSTRING(${column}, 18), ${nthOf()}, LEFT(${column}, 16),
  CONCAT(SUBSTRING(${tag}, 18), ' ?') FROM ${lock} WHERE ${which} AND ${column} IS NOT NULL`;
  });
  return `INSERT INTO ${news} (at, nth, address, message) ${both.join(' UNION ALL ')}`;
}

function insertWakes(table: string, wakes: readonly RowWake[]): string {
  const rows = wakes.map(({ address, message }) => {
    return `SELECT ${NOW} AS at, ${nthOf()} AS nth,
  ${literal(address)} AS a, ${literal(message)} AS m`;
  });
  return `INSERT INTO ${table} (at, nth, address, message)
SELECT n.at, n.nth, n.a, n.m FROM (${rows.join(' UNION ALL ')}) AS n WHERE ROW_COUNT() > 0`;
}

/** The names of those that were written, by how many rows each statement has changed. */
export function writtenIn(rows: readonly RowWrite[], done: readonly TextRow[]): string[] {
  return rows.filter((_, n) => done[n * PER_ROW + WRITTEN]?.[1] === '1').map(({ name }) => name);
}

function written(value: SqlValue): string {
  if (value === null) return 'NULL';
  return typeof value === 'number' ? String(value) : literal(value);
}

export function keep({ lock, kept }: MysqlTables, args: readonly string[]): string {
  const [name = '', id = '', rev, text = '', ms] = args;
  const key = literal(name);
  const held = rev === '0' ? `id = ${literal(id)} AND until > ${NOW}` : `rev = ${Number(rev)}`;
  return `SELECT COUNT(*) INTO @holdfast FROM ${lock}
WHERE name = ${key} AND ${held} AND ${WRITABLE} FOR UPDATE;
INSERT INTO ${kept} (name, content, until)
SELECT ${key}, ${literal(text)}, ${NOW} + ${Number(ms)} * 1000 FROM DUAL WHERE @holdfast > 0
ON DUPLICATE KEY UPDATE content = VALUES(content), until = VALUES(until);
${forget(kept, 2)};
SELECT 'kept' FROM DUAL WHERE @holdfast > 0`;
}

function forget(kept: string, most: number): string {
  return `DELETE k FROM (
  SELECT name FROM ${kept} WHERE until <= ${BEGAN} ORDER BY until LIMIT ${most}
  FOR UPDATE SKIP LOCKED
) AS o STRAIGHT_JOIN ${kept} k ON k.name = o.name`;
}

export function recall({ kept }: MysqlTables, [name = '']: readonly string[]): string {
  return `SELECT CONCAT(CEIL((k.until - ${NOW}) / 1000), ' ', k.content) FROM ${kept} k
WHERE k.name = ${literal(name)} AND k.until > ${NOW}`;
}

export function names({ lock }: MysqlTables, [from = '', most]: readonly string[]): string {
  return `SELECT ${lineOf(`${NOW}, 0, 0`)} FROM ${lock} l
WHERE l.name >= ${literal(from)} AND (l.id IS NOT NULL OR l.state IS NOT NULL)
ORDER BY l.name LIMIT ${Number(most)}`;
}

export function raiseHighest({ store }: MysqlTables, [idle]: readonly string[]): string {
  return `UPDATE ${store} SET highest = GREATEST(highest, ${NOW} - ${Number(idle)})
WHERE only_row = TRUE`;
}

export function sweep({ lock, store, news, kept }: MysqlTables, args: readonly string[]): string {
  const [after = '', most = '', idle] = args;
  const long = `${BEGAN} - ${Number(idle)}`;
  return `SELECT highest, max_ttl INTO @holdfast_highest, @holdfast_ttl FROM ${store}
WHERE only_row = TRUE;
SELECT MAX(p.name), COUNT(*) INTO @holdfast_last, @holdfast_count FROM (
  SELECT name FROM ${lock} WHERE name > ${literal(after)} ORDER BY name LIMIT ${Number(most)}
) AS p;
DELETE l FROM (
  SELECT name FROM ${lock} WHERE name > ${literal(after)} AND name <= @holdfast_last
    AND until < ${long} - IF(waiters > 0, @holdfast_ttl, 0) AND last <= @holdfast_highest
  FOR UPDATE SKIP LOCKED
) AS i STRAIGHT_JOIN ${lock} l ON l.name = i.name;
${forget(kept, Number(most))};
DELETE FROM ${news} WHERE at < ${BEGAN} - ${WAKES_KEPT};
SELECT CONVERT(@holdfast_last USING utf8mb4) FROM DUAL WHERE @holdfast_count = ${Number(most)}`;
}
