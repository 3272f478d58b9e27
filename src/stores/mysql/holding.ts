/**
 * The steps that a statement makes by itself: taking a row or lining up in it, renewing the hold,
 * and ending it.
 *
 * Invariant: a statement decides by the one row of its lock, which it has locked by then, and
 * raises its `rev`. Its assignments run from left to right, and each sees those before it: so a
 * column that others depend on comes last, or is in `step`. The number of the insert returns what
 * the statement did: 0 for nothing.
 * What would break it: assignments in another order; a condition on another row of the lock, which
 * is as old as the statement.
 */
import { literal } from '../../clients/mysql/connection.ts';
import { CHANNEL } from '../sql/link.ts';
import {
  BEGAN,
  FIRST_LINE,
  lives,
  type MysqlTables,
  msUntil,
  NEWLINE,
  NOW,
  TAB,
  toldOf,
  wordOf,
} from './fragments.ts';
import { intact, type KnownHistory, WRITABLE } from './history.ts';

/** Numbers are greater than this one of 2001, and what tells of a wait is smaller. */
const LEAST_NUMBER = 1e15;
const PER_WAITER = 2 ** 32;
/** How many places can be reported. */
const MOST_WAITERS = 200_000;

export interface Taken {
  readonly number: number;
  readonly ahead: number;
  /** Until the one before ends. */
  readonly leftMs: number;
}

export function takenIn(id: number): Taken | undefined {
  if (id === 0) return undefined;
  if (id >= LEAST_NUMBER) return { number: id, ahead: 0, leftMs: 0 };
  return { number: 0, ahead: Math.floor(id / PER_WAITER), leftMs: id % PER_WAITER };
}

/** The number of a claim that is the first in its row, and that of others. */
const FIRST = `GREATEST(${BEGAN}, s.highest + 1)`;
const DRAWN = `GREATEST(last + 1, ${BEGAN}, s.highest + 1)`;

/** As the table gives them: texts. */
export type Args = readonly string[];

/** What the table says of a claim, in its order. */
export const WORDS: readonly string[] = [
  ...['name', 'id', 'kind', 'permits', 'capacity', 'ttl', 'holder', 'tag'],
];

/** The text of a statement, with a `?` for each of its values. */
export type TextOf = (tables: MysqlTables, known: KnownHistory) => string;

/** The row of a claim that is the first there, with the claim in it: its ttl and its words. */
function insert({ lock, store }: MysqlTables, known: KnownHistory): string {
  return `
INSERT INTO ${lock} (until, rev, last, number, crowd, ${WORDS.join(', ')})
SELECT ${NOW} + ? * 1000, ${BEGAN}, LAST_INSERT_ID(${FIRST}), ${FIRST}, '',
  ${WORDS.map(() => '?').join(', ')}
FROM ${store} s WHERE ${granting(known)}
ON DUPLICATE KEY UPDATE`;
}

/** Whether anything is granted. */
export function granting(known: KnownHistory): string {
  return `s.only_row = TRUE AND ${intact(known)} AND s.open_at <= ${BEGAN}`;
}

/**
 * The assignments by which the claim of `insert` becomes the one that holds, where it does; all but
 * that of its id. MariaDB spoils `VALUES` of a TEXT that has been assigned.
 */
function held(set: (column: string, value: string) => string): string {
  const same = ['kind', 'permits', 'capacity', 'ttl', 'tag'];
  return [
    set('number', 'last'),
    set('until', `${NOW} + VALUES(ttl) * 1000`),
    set('holder', '?'),
    ...same.map((column) => set(column, `VALUES(${column})`)),
    ...NONE.map((column) => set(column, 'NULL')),
  ].join(', ');
}

/** What a new hold does not have. */
export const NONE: readonly string[] = ['ended', 'ended_by', 'told', 'next_told'];

/** For one claim, on a lock without a holder. */
export function takeFree(tables: MysqlTables, known: KnownHistory): string {
  const free = (value: string, other: string): string =>
    `IF(id IS NULL AND state IS NULL, ${value}, ${other})`;
  const set = (column: string, value: string): string => `${column} = ${free(value, column)}`;
  return `${insert(tables, known)}
  last = ${free(`LAST_INSERT_ID(${DRAWN})`, 'last + LAST_INSERT_ID(0)')}, ${held(set)},
  ${set('rev', 'rev + 1')}, ${set('id', 'VALUES(id)')}`;
}

/** The values of `takeFree`. */
export function freeValues(args: Args): string[] {
  const [, , , , , ttl = '', holder = ''] = args;
  return [ttl, ...args.slice(0, WORDS.length), holder];
}

/** The same where the row is there. What it draws is what it compares. */
export function takeAgain({ lock, store }: MysqlTables, known: KnownHistory): string {
  const drawn = `GREATEST(last + 1, ${BEGAN})`;
  const [, ...words] = WORDS;
  const set = [...words.map((word) => `${word} = ?`), ...NONE.map((column) => `${column} = NULL`)];
  return `
UPDATE ${lock} SET rev = rev + 1, last = LAST_INSERT_ID(${drawn}), number = last,
  ${set.join(', ')}, until = ${NOW} + ttl * 1000
WHERE name = ? AND id IS NULL AND state IS NULL
  AND (SELECT s.highest FROM ${store} s WHERE ${granting(known)}) < ${drawn}`;
}

/** The values of `takeAgain`. */
export function againValues(args: Args): string[] {
  const [name = '', ...words] = args.slice(0, WORDS.length);
  return [...words, name];
}

/** One claim takes the row, or lines up where one holds the whole limit and all before it live. */
export function takeAny(tables: MysqlTables, known: KnownHistory, most = ''): string {
  const until = `${NOW} + VALUES(ttl) * 1000`;
  const same = ['kind', 'permits', 'capacity'].map((column) => `${column} = VALUES(${column})`);
  const joins = `until > ${NOW} AND ${lives(1)} AND COALESCE(tail, until) > ${NOW}
    AND permits >= capacity AND ${same.join(' AND ')} AND waiters < ${Number(most)}
    AND waiters < ${MOST_WAITERS} AND id <> VALUES(id) AND LOCATE(VALUES(id), crowd) = 0`;
  const left = `LEAST(${PER_WAITER - 1}, GREATEST(0, ${msUntil('COALESCE(tail, until)')}))`;
  const words = `last, ${until}, VALUES(id), VALUES(ttl), VALUES(tag), ?, ?`;
  const set = (column: string, value: string): string =>
    `${column} = IF(step = 'h', ${value}, ${column})`;
  return `${insert(tables, known)}
  step = IF(state IS NOT NULL, '-', IF(id IS NULL, 'h', IF(${joins}, 'w', '-'))),
  last = CASE step WHEN 'h' THEN LAST_INSERT_ID(${DRAWN})
    WHEN 'w' THEN ${DRAWN} + 0 * LAST_INSERT_ID((waiters + 1) * ${PER_WAITER} + ${left})
    ELSE last + LAST_INSERT_ID(0) END,
  ${held(set)}, ${set('id', 'VALUES(id)')},
  crowd = IF(step = 'w', CONCAT(crowd, CONCAT_WS(${TAB}, ${words}), ${NEWLINE}), crowd),
  tail = IF(step = 'w', ${until}, tail), waiters = waiters + (step = 'w'),
  told = IF(step = 'w' AND waiters = 1, ${toldOf('tag')}, told), rev = rev + (step <> '-')`;
}

/** The values of `takeAny`. */
export function anyValues(args: Args): string[] {
  const [holder = '', trusts = ''] = [args[6], args[10]];
  return [...freeValues(args), trusts, holder];
}

/** Renews one claim that holds; fails where another session has the row, and waits for none. */
export function beat({ lock }: MysqlTables, [name = '', id = '', ttl = '']: Args): string {
  return `
SELECT COUNT(*) INTO @holdfast FROM ${lock} WHERE name = ${literal(name)} FOR UPDATE NOWAIT;
UPDATE ${lock} SET rev = rev + 1 + 0 * LAST_INSERT_ID(number),
  until = ${NOW} + ${Number(ttl)} * 1000
WHERE name = ${literal(name)} AND id = ${literal(id)} AND state IS NULL AND until > ${NOW}
  AND ${lives(1)} AND ${WRITABLE}`;
}

/** Ends one claim that none waits behind: of this name, and with this id. */
export function leaveFree({ lock }: MysqlTables): string {
  return `
UPDATE ${lock} SET rev = rev + LAST_INSERT_ID(1), id = NULL, until = ${NOW}
WHERE name = ? AND id = ? AND waiters = 0 AND state IS NULL AND until > ${NOW} AND ${WRITABLE}`;
}

/**
 * What `leaveAny` says of the claim that holds then: there is none, or its process does not listen;
 * it is of this process; no session was found that listens. Anything greater is such a session,
 * with this added.
 */
export const NEXT = { none: 1, own: 2, unwoken: 3 } as const;

/** Ends one claim; the first line of the crowd holds then, where there is one. */
export function leaveAny({ lock, store }: MysqlTables, known: KnownHistory): string {
  const next = (value: string, other = 'NULL'): string => `IF(waiters > 0, ${value}, ${other})`;
  const session = `COALESCE(IS_USED_LOCK(CONCAT(${literal(CHANNEL)}, LEFT(told, 16))), 0)`;
  return `
UPDATE ${lock} SET
  ended = ${next("'released'")}, ended_by = ${next('number')}, number = ${next(wordOf(1, 1))},
  until = ${next(wordOf(1, 2), NOW)}, id = ${next(wordOf(1, 3))}, ttl = ${next(wordOf(1, 4))},
  tag = ${next(wordOf(1, 5))}, holder = ${next(wordOf(1, 7))}, told = ${next(toldOf('tag'))},
  next_told = IF(waiters > 1, ${toldOf(wordOf(2, 5))}, NULL),
  crowd = SUBSTRING(crowd, CHAR_LENGTH(${FIRST_LINE}) + 2), waiters = GREATEST(waiters - 1, 0),
  tail = ${next('tail')}, rev = rev + 1 + 0 * LAST_INSERT_ID(IF(told IS NULL, ${NEXT.none},
    IF(LEFT(told, 16) = ?, ${NEXT.own}, ${NEXT.unwoken} + ${session})))
WHERE name = ? AND id = ? AND state IS NULL AND until > ${NOW}
  AND ${lives(1)} AND ${lives(2)} AND ${WRITABLE}
  AND IF(waiters = 0, TRUE, (
    SELECT COUNT(*) FROM ${store} s
    WHERE s.only_row = TRUE AND ${intact(known)} AND s.open_at <= ${NOW}
  ) > 0)`;
}
