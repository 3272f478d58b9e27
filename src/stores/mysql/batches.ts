/**
 * The steps of `holding.ts` for several claims at once, each on a lock of its own: taking free
 * rows, renewing holds, and ending those behind which no claim waits.
 *
 * Invariant: each is one transaction that first locks its rows. If another session has locked one,
 * it fails at once, with nothing changed, and the next one changes the rows that it can lock
 * without waiting. It waits only for rows that are being made, which all sessions make in the order
 * of their names; a circle of such waits is a deadlock, which the server ends at once.
 * If it changed all rows, their number says so. Else the rows, still locked, show what it did: a
 * changed row has the id of the claim, and the number or the time of this transaction. If another
 * session wrote both, it wrote them for the same claim, so they hold for this one.
 * What would break it: two claims of one lock; a row that is changed without having been locked.
 */
import { literal } from '../../clients/mysql/connection.ts';
import { numberOf } from '../../clients/mysql/errors.ts';
import { columnOf, type TextRow } from '../../clients/sql/session.ts';
import { grouped } from '../batch.ts';
import { BY_NAME, HELD_CLAIM, isOf, listOf, lives, type MysqlTables, NOW } from './fragments.ts';
import { isDue, type KnownHistory, WRITABLE } from './history.ts';
import { type Args, granting, NONE, WORDS } from './holding.ts';
import type { Requests } from './requests.ts';

/** The errors that say that another session has a row. */
const LOCKED: readonly (number | undefined)[] = [1205, 3572];

const TTL = WORDS.indexOf('ttl');
/** How late a second request may be, as a share of the ttl: the tombstones of claims end. */
const PER_TTL = 1 / 4;

/** Until when claims that are taken now may be asked for a second time. */
export function secondBy(claims: readonly Args[]): number {
  const shortest = Math.min(...claims.map((claim) => Number(claim[TTL])));
  return performance.now() + shortest * PER_TTL;
}

interface MysqlBatch {
  readonly claims: readonly Args[];
  /** For how many it did nothing, and what else it has to say of all. */
  readonly said: TextRow;
  readonly rows: readonly TextRow[];
}

export class Batches {
  readonly #tables: MysqlTables;
  readonly #requests: Requests;

  constructor(tables: MysqlTables, requests: Requests) {
    this.#tables = tables;
    this.#requests = requests;
  }

  /** Returns a line for each claim that has taken the row of its lock. */
  take(claims: readonly Args[], known: KnownHistory): Promise<Args> {
    return this.#take(lone(claims), known, takeAll);
  }

  /** Returns the claims that were renewed. */
  async beat(claims: readonly Args[]): Promise<Args> {
    const { rows } = await this.#ask(claims, (locking) => beatAll(this.#tables, claims, locking));
    return columnOf(rows);
  }

  /** Returns the ids of those that held until now. */
  async leave(claims: readonly Args[]): Promise<Args> {
    const batch = await this.#ask(claims, (locking) => leaveAll(this.#tables, claims, locking));
    return doneIn(batch).map(([, id = '']) => id);
  }

  /** Rows that are missing are made with a second request. */
  async #take(claims: readonly Args[], known: KnownHistory, textOf: typeof takeAll): Promise<Args> {
    const [due, at, by] = [isDue(known), performance.now(), secondBy(claims)];
    const text = (locking: Locking): string => textOf(this.#tables, claims, { known, locking });
    const batch = await this.#ask(claims, text, by);
    const taken = doneIn(batch);
    if (due && taken.length > 0) known.seenAt = at;
    const { said, rows } = batch;
    const lines = taken.map(([name, id]) => `${id} ${said[1]} 0 0 - 0 ${name}`);
    const there = new Set(columnOf(rows));
    const fresh = claims.filter(([name = '']) => !there.has(name));
    // Without a number nothing may be granted, nor written.
    const closed = said[1] === null;
    if (closed || said[0] === '0' || fresh.length === 0 || textOf === takeNew) return lines;
    if (performance.now() >= by) return lines;
    return [...lines, ...(await this.#take(fresh, known, takeNew))];
  }

  async #ask(
    claims: readonly Args[],
    textOf: (locking: Locking) => string,
    by = Number.POSITIVE_INFINITY,
  ): Promise<MysqlBatch> {
    if (claims.length === 0) return { claims, said: ['0'], rows: [] };
    const ask = async (locking: Locking): Promise<MysqlBatch> => {
      const text = textOf(locking);
      const replies = await this.#requests.transact(text, by);
      // All before the last two say nothing.
      const [said = [], ...rows] = replies.slice(text.split(';\n').length - 1, -1);
      return { claims, said, rows };
    };
    try {
      return await ask('NOWAIT');
    } catch (error) {
      if (!LOCKED.includes(numberOf(error)) || performance.now() >= by) throw error;
      return ask('SKIP LOCKED');
    }
  }
}

/** The claims that are the only one of their lock. */
function lone(claims: readonly Args[]): Args[] {
  const byName = grouped(claims, ([name]) => name);
  return [...byName.values()].flatMap((those) => (those.length === 1 ? those : []));
}

/** The claims for which it did what it is for: all, or those in the rows. */
function doneIn({ claims, said: [left], rows }: MysqlBatch): readonly Args[] {
  if (left === '0') return claims;
  const ids = new Map(rows.map(([name, id]) => [name, id]));
  return claims.filter(([name = '', id]) => ids.get(name) === id);
}

const START = `SET @holdfast_now = ${NOW}`;

function nths(claims: readonly Args[], nth: number): string {
  return listOf(claims.map((claim) => String(claim[nth])));
}

/** The nth word of the claim of a row: one for all where they are alike. */
function nthOf(claims: readonly Args[], nth: number): string {
  const [first = [], ...more] = claims;
  if (more.every((claim) => claim[nth] === first[nth])) return literal(String(first[nth]));
  return `ELT(FIELD(name, ${nths(claims, 0)}), ${nths(claims, nth)})`;
}

/** What to do where other sessions have rows: fail at once, or change the others. */
type Locking = 'NOWAIT' | 'SKIP LOCKED';

interface RowChange {
  readonly where: string;
  /** Reads no column that it writes, except `rev`. */
  readonly set: string;
  readonly locking: Locking;
}

/** Locks the rows of these claims, and changes them. With all of them it takes half as long. */
function change(lock: string, claims: readonly Args[], how: RowChange): string {
  const { where, set, locking } = how;
  const rows = isOf(claims.map(([name = '']) => name));
  const which = `${rows} AND state IS NULL AND ${where}`;
  const all = `SELECT COUNT(*) INTO @holdfast FROM ${lock} ${BY_NAME} WHERE ${rows}
FOR UPDATE NOWAIT;
UPDATE ${lock} ${BY_NAME} SET rev = rev + 1, ${set} WHERE ${which}`;
  const some = `UPDATE (
  SELECT name AS locked FROM ${lock} ${BY_NAME} WHERE ${which}
  LIMIT ${claims.length} FOR UPDATE SKIP LOCKED
) AS f STRAIGHT_JOIN ${lock} ON name = locked SET rev = rev + 1, ${set}`;
  return `${locking === 'NOWAIT' ? all : some};
SET @holdfast_left = ${claims.length} - ROW_COUNT()`;
}

/** The rows of these claims if any is left: else it takes no time. */
function ifLeft(lock: string, claims: readonly Args[]): string {
  return `(SELECT 1 FROM DUAL WHERE @holdfast_left > 0 LIMIT 1) AS some
STRAIGHT_JOIN ${lock} l ON l.name IN (${nths(claims, 0)})`;
}

function mine(claims: readonly Args[]): string {
  return `id = ${nthOf(claims, 1)} AND until > @holdfast_now AND ${WRITABLE}`;
}

interface MysqlTaking {
  readonly known: KnownHistory;
  readonly locking: Locking;
}

/**
 * Of locks without a holder. Returns the number of all that hold now, how many claims took nothing,
 * and, if there are such, the rows that are there: their names, and who holds.
 */
function takeAll(
  { lock, store }: MysqlTables,
  claims: readonly Args[],
  { known, locking }: MysqlTaking,
): string {
  const where = 'id IS NULL AND last < @holdfast_number';
  const set = [
    ...['last', 'number'].map((column) => `${column} = @holdfast_number`),
    ...WORDS.map((word, n) => `${word} = ${nthOf(claims, n)}`).slice(1),
    `until = @holdfast_now + ${nthOf(claims, TTL)} * 1000`,
    ...NONE.map((column) => `${column} = NULL`),
  ].join(', ');
  return `${START};
SET @holdfast_number = (
  SELECT GREATEST(@holdfast_now, s.highest + 1) FROM ${store} s WHERE ${granting(known)}
);
${change(lock, claims, { where, set, locking })};
SELECT @holdfast_left, @holdfast_number;
SELECT CONVERT(l.name USING utf8mb4), IF(l.number = @holdfast_number, l.id, NULL)
FROM ${ifLeft(lock, claims)}`;
}

/** The same where there are no rows yet. Names in order, since two sessions may make them. */
function takeNew(tables: MysqlTables, claims: readonly Args[], how: MysqlTaking): string {
  const names = claims.map(([name = '']) => name).sort();
  const rows = names.map((name) => `(${literal(name)}, ${NOW}, 0, ${NOW}, '')`);
  return `INSERT IGNORE INTO ${tables.lock} (name, rev, last, until, crowd)
VALUES ${rows.join(', ')};
${takeAll(tables, claims, how)}`;
}

/** Renews claims that hold. Returns those that were renewed. */
function beatAll({ lock }: MysqlTables, claims: readonly Args[], locking: Locking): string {
  const until = `@holdfast_now + ${nthOf(claims, 2)} * 1000`;
  const where = `${mine(claims)} AND ${lives(1)}`;
  return `${START};
${change(lock, claims, { where, set: `until = ${until}`, locking })};
SELECT @holdfast_left;
SELECT ${HELD_CLAIM} FROM ${lock} l WHERE l.name IN (${nths(claims, 0)})
  AND l.id = ${nthOf(claims, 1)} AND l.until = ${until} AND l.state IS NULL`;
}

/**
 * Of holds behind which no claim waits. Returns how many claims are left, and, if there are such,
 * the ids of those that held until now: a row that is free says in `holder` whose it was.
 */
function leaveAll({ lock }: MysqlTables, claims: readonly Args[], locking: Locking): string {
  const where = `${mine(claims)} AND waiters = 0`;
  const set = `holder = ${nthOf(claims, 1)}, id = NULL, until = @holdfast_now`;
  return `${START};
${change(lock, claims, { where, set, locking })};
SELECT @holdfast_left;
SELECT CONVERT(l.name USING utf8mb4), l.holder FROM ${ifLeft(lock, claims)}
WHERE l.id IS NULL AND l.until = @holdfast_now`;
}
