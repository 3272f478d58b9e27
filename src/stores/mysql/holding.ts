/**
 * The steps that a statement makes by itself: to take a row or line up in it, to renew the hold,
 * and to end it.
 *
 * Invariant: a statement decides by the one row of its lock, which it has locked by then, and
 * raises its `rev`. Its assignments are made from left to right, and each sees those before it: so
 * what the others depend on comes last, or is in `step`. What it did comes back as the number of
 * the insert, which is 0 where it did nothing.
 * What would break it: assignments in another order; a condition on another row of the lock, which
 * is as old as the statement.
 */
import { literal } from '../../clients/mysql/connection.ts';
import {
  FIRST_LINE,
  lives,
  msUntil,
  NEWLINE,
  NOW,
  TAB,
  type Tables,
  toldOf,
  wordOf,
} from './fragments.ts';
import { intact, type Known, WRITABLE } from './history.ts';

/** Numbers are greater than this one of 2001, and what tells of a wait is smaller. */
const LEAST_NUMBER = 1e15;
const PER_WAITER = 2 ** 32;
/** So many places can be told. */
const MOST_WAITERS = 200_000;

/** What a statement has found and done. */
export interface Taken {
  readonly number: number;
  readonly ahead: number;
  /** Until the one before ends. */
  readonly leftMs: number;
}

/** The number of the insert. */
export function takenIn(id: number): Taken | undefined {
  if (id === 0) return undefined;
  if (id >= LEAST_NUMBER) return { number: id, ahead: 0, leftMs: 0 };
  return { number: 0, ahead: Math.floor(id / PER_WAITER), leftMs: id % PER_WAITER };
}

/** The number of a claim that is the first in its row, and that of others. */
const FIRST = 'GREATEST(t.now, s.highest + 1)';
const DRAWN = 'GREATEST(last + 1, t.now, s.highest + 1)';

/** As the table gives them: texts. */
type Args = readonly string[];

/**
 * What a claim brings into a row, but for its id. The words stand in the statement wherever they
 * are needed: MariaDB spoils `VALUES` of a TEXT that has been assigned.
 */
function termsIn(args: Args): Readonly<Record<string, string>> {
  const [kind = '', permits, capacity, ttl, holder = '', tag = ''] = args.slice(2);
  return {
    until: `${NOW} + ${Number(ttl)} * 1000`,
    ttl: String(Number(ttl)),
    kind: literal(kind),
    permits: String(Number(permits)),
    capacity: String(Number(capacity)),
    tag: literal(tag),
    holder: literal(holder),
  };
}

/** The row of a claim that is the first there. */
function insert(
  { lock, store }: Tables,
  [name = '', id = '', ...rest]: Args,
  known: Known,
): string {
  const terms = termsIn([name, id, ...rest]);
  return `
INSERT INTO ${lock} (name, rev, last, id, number, crowd, ${Object.keys(terms).join(', ')})
SELECT ${literal(name)}, t.now, LAST_INSERT_ID(${FIRST}), ${literal(id)}, ${FIRST}, '',
  ${Object.values(terms).join(', ')}
FROM (SELECT ${NOW} AS now LIMIT 1) AS t, ${store} s
WHERE s.only_row = TRUE AND ${intact(known)} AND s.open_at <= t.now
ON DUPLICATE KEY UPDATE`;
}

/** The assignments by which a claim becomes the one that holds, where it does. */
function held(args: Args, set: (column: string, value: string) => string): string {
  const terms = Object.entries(termsIn(args));
  const none = ['ended', 'ended_by', 'told', 'next_told'].map((column) => set(column, 'NULL'));
  const taken = terms.map(([column, value]) => set(column, value));
  return [set('number', 'last'), ...taken, ...none].join(', ');
}

/** Of one claim, where nobody holds. */
export function takeFree(tables: Tables, args: Args, known: Known): string {
  const free = (value: string, other: string): string =>
    `IF(id IS NULL AND state IS NULL, ${value}, ${other})`;
  const set = (column: string, value: string): string => `${column} = ${free(value, column)}`;
  return `${insert(tables, args, known)}
  last = ${free(`LAST_INSERT_ID(${DRAWN})`, 'last + LAST_INSERT_ID(0)')}, ${held(args, set)},
  ${set('rev', 'rev + 1')}, ${set('id', literal(args[1] ?? ''))}`;
}

/** Of one claim: takes the row, or lines up where one holds the whole limit and all before live. */
export function takeAny(tables: Tables, args: Args, known: Known): string {
  const { until, ttl, kind, permits, capacity, tag, holder } = termsIn(args);
  const id = literal(args[1] ?? '');
  const trusts = literal(args[10] ?? '');
  const most = Math.min(Number(args[13]), MOST_WAITERS);
  const joins = `until > ${NOW} AND ${lives(1)} AND COALESCE(tail, until) > ${NOW}
    AND permits >= capacity AND kind = ${kind} AND permits = ${permits}
    AND capacity = ${capacity} AND waiters < ${most} AND id <> ${id} AND LOCATE(${id}, crowd) = 0`;
  const left = `LEAST(${PER_WAITER - 1}, GREATEST(0, ${msUntil('COALESCE(tail, until)')}))`;
  const words = `last, ${until}, ${id}, ${ttl}, ${tag}, ${trusts}, ${holder}`;
  const set = (column: string, value: string): string =>
    `${column} = IF(step = 'h', ${value}, ${column})`;
  return `${insert(tables, args, known)}
  step = IF(state IS NOT NULL, '-', IF(id IS NULL, 'h', IF(${joins}, 'w', '-'))),
  last = CASE step WHEN 'h' THEN LAST_INSERT_ID(${DRAWN})
    WHEN 'w' THEN ${DRAWN} + 0 * LAST_INSERT_ID((waiters + 1) * ${PER_WAITER} + ${left})
    ELSE last + LAST_INSERT_ID(0) END,
  ${held(args, set)}, ${set('id', id)},
  crowd = IF(step = 'w', CONCAT(crowd, CONCAT_WS(${TAB}, ${words}), ${NEWLINE}), crowd),
  tail = IF(step = 'w', ${until}, tail), waiters = waiters + (step = 'w'),
  told = IF(step = 'w' AND waiters = 1, ${toldOf('tag')}, told), rev = rev + (step <> '-')`;
}

/** Of one claim that holds; fails where another session has the row, and waits for none. */
export function beat({ lock }: Tables, [name = '', id = '', ttl = '']: Args): string {
  return `
SELECT COUNT(*) INTO @holdfast FROM ${lock} WHERE name = ${literal(name)} FOR UPDATE NOWAIT;
UPDATE ${lock} SET rev = rev + 1 + 0 * LAST_INSERT_ID(number),
  until = ${NOW} + ${Number(ttl)} * 1000
WHERE name = ${literal(name)} AND id = ${literal(id)} AND state IS NULL AND until > ${NOW}
  AND ${lives(1)} AND ${WRITABLE}`;
}

/** Of one claim behind which nobody waits. */
export function leaveFree({ lock }: Tables, [name = '', id = '']: Args): string {
  return `
UPDATE ${lock} SET rev = rev + LAST_INSERT_ID(1), id = NULL, until = ${NOW}
WHERE name = ${literal(name)} AND id = ${literal(id)} AND waiters = 0 AND state IS NULL
  AND until > ${NOW} AND ${WRITABLE}`;
}

/** Of one claim; the first line of the crowd holds, where there is one. */
export function leaveAny(
  { lock, store }: Tables,
  [name = '', id = '']: Args,
  known: Known,
): string {
  const next = (value: string, other = 'NULL'): string => `IF(waiters > 0, ${value}, ${other})`;
  return `
UPDATE ${lock} SET rev = rev + 1 + 0 * LAST_INSERT_ID(1 + (waiters > 0)),
  ended = ${next("'released'")}, ended_by = ${next('number')}, number = ${next(wordOf(1, 1))},
  until = ${next(wordOf(1, 2), NOW)}, id = ${next(wordOf(1, 3))}, ttl = ${next(wordOf(1, 4))},
  tag = ${next(wordOf(1, 5))}, holder = ${next(wordOf(1, 7))}, told = ${next(toldOf('tag'))},
  next_told = IF(waiters > 1, ${toldOf(wordOf(2, 5))}, NULL),
  crowd = SUBSTRING(crowd, CHAR_LENGTH(${FIRST_LINE}) + 2), waiters = GREATEST(waiters - 1, 0),
  tail = ${next('tail')}
WHERE name = ${literal(name)} AND id = ${literal(id)} AND state IS NULL AND until > ${NOW}
  AND ${lives(1)} AND ${lives(2)} AND ${WRITABLE}
  AND IF(waiters = 0, TRUE, (
    SELECT COUNT(*) FROM ${store} s
    WHERE s.only_row = TRUE AND ${intact(known)} AND s.open_at <= ${NOW}
  ) > 0)`;
}
