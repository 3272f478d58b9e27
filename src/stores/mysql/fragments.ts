/** What several statements have in common. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { literal } from '../../clients/mysql/connection.ts';

export const PREFIX = 'holdfast_';

/** @throws UsageError unless names with this prefix need no quotes. */
export function checkPrefix(prefix: string = PREFIX): string {
  if (typeof prefix === 'string' && /^[a-z][a-z0-9_]{0,31}$/.test(prefix)) return prefix;
  const message = `prefix must be 1 to 32 small letters, digits or '_', the first one a letter`;
  throw new UsageError(`${message}, not ${show(prefix)}.`);
}

export type MysqlTables = Readonly<Record<'lock' | 'store' | 'news' | 'kept', string>>;

export function tablesOf(prefix: string): MysqlTables {
  const of = (table: string): string => `${prefix}${table}`;
  return { lock: of('lock'), store: of('store'), news: of('news'), kept: of('kept') };
}

function micros(time: string): string {
  return `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${time})`;
}

/** The server's clock, in µs, also after a wait for a row. */
export const NOW: string = micros('SYSDATE(6)');

/** The clock as the statement began, for conditions that an index serves. */
export const BEGAN: string = micros('UTC_TIMESTAMP(6)');

const BIN = 'COLLATE utf8mb4_bin';
export const TAB: string = `${literal('\t')} ${BIN}`;
export const NEWLINE: string = `${literal('\n')} ${BIN}`;

/**
 * For a statement that locks rows by their names. In a small table the server would rather read,
 * and lock, all rows; told to take this index, it reads only those that are named.
 */
export const BY_NAME = 'FORCE INDEX (PRIMARY)';

export function isOf(names: readonly string[]): string {
  return `rev > 0 AND name IN (${listOf(names)})`;
}

export function listOf(values: readonly string[]): string {
  return values.map(literal).join(', ');
}

export function msUntil(time: string): string {
  return `CEIL((${time} - ${NOW}) / 1000)`;
}

/** A line of the crowd; only those up to the first missing one are asked for. */
function lineOf(nth: number): string {
  const upTo = `SUBSTRING_INDEX(crowd, ${NEWLINE}, ${nth})`;
  return nth === 1 ? upTo : `SUBSTRING_INDEX(${upTo}, ${NEWLINE}, -1)`;
}

export function wordOf(line: number, nth: number): string {
  return `SUBSTRING_INDEX(SUBSTRING_INDEX(${lineOf(line)}, ${TAB}, ${nth}), ${TAB}, -1)`;
}

export const FIRST_LINE: string = lineOf(1);

/** Whether as many are waiting, and the last of these is dead: only the queue can clear it away. */
export function lives(line: number): string {
  return `IF(waiters < ${line}, TRUE, CAST(${wordOf(line, 2)} AS SIGNED) > ${NOW})`;
}

/** Whose process has a wake, and since when; null if it does not listen. */
export function toldOf(tag: string): string {
  return `IF(${tag} = '- -', NULL, CONCAT(LEFT(${tag}, 16), ' ', ${NOW}))`;
}

/** A status of the claim that holds, behind the name of the claim in its process. */
export const HELD_LINE: string = `'h', number, ${msUntil('until')}, waiters, '-',
  COALESCE(ended, '-'), COALESCE(ended_by, 0)`;

/** The same for a caller that knows that its claim holds. */
export const HELD_CLAIM: string = `CONCAT_WS(' ', l.id, l.number, l.waiters,
  COALESCE(l.ended, '-'), COALESCE(l.ended_by, 0))`;

/** The status of the first who waits, behind it. */
export const NEXT_LINE: string = `'w', ${msUntil(`CAST(${wordOf(1, 2)} AS SIGNED)`)}, 1, '-',
  'queue', GREATEST(0, ${msUntil('until')})`;
