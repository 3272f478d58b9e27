/**
 * A row as a lock: `SELECT … FOR UPDATE`, for as long as the caller's transaction lasts.
 *
 * Invariant: of all transactions that locked the row for update, at most one is open, also while
 * the row is being inserted. The database ensures it once the row exists; the insert needs care.
 * PostgreSQL: look first, then insert with ON CONFLICT, which waits for other inserts, and look
 * again. The first look finds nothing, and waits for nothing, at an isolation level where later
 * reads would be older than the lock (locking.ts). MySQL: a locking look at a missing row locks the
 * gap, which two transactions can do, and neither could insert any more: a deadlock. INSERT IGNORE
 * takes a shared lock, which two cannot upgrade: another deadlock. So an insert comes first whose
 * ON DUPLICATE KEY UPDATE asks for the exclusive lock at once, and changes nothing. A look without
 * a lock is never used on MySQL: it would fix the snapshot of all later reads before the lock is
 * held.
 * What would break it: a key that is not unique, for which two transactions insert a row each
 * (PostgreSQL refuses it; on MySQL the second finds two rows and is refused).
 */
import { isLockError, UsageError } from '../base/errors.ts';
import { oneOf, readOptions } from '../base/options.ts';
import type { SqlTransaction } from '../clients/sql/clients.ts';
import { type SqlConnection, transactionOf } from '../clients/sql/connection.ts';
import { TransactionError } from '../clients/sql/errors.ts';
import type { Dialect, Row } from '../clients/sql/sql.ts';
import { type Columns, type Piece, quoteTable, readColumns, readKey } from '../clients/sql/sql.ts';
import {
  type CheckedWait,
  type LockWait,
  mustReadLatest,
  READS_LATEST,
  readWait,
  type UntimedWait,
  within,
} from './locking.ts';

export interface RowLockOptions {
  /** `name` or `schema.name`, as the database spells it. */
  readonly table: string;
  /** A value for each column of a unique key. */
  readonly key: Columns;
  /** `share` admits other sharers, too. Default: `update`. */
  readonly mode?: 'update' | 'share';
  /** Default: `block`. */
  readonly wait?: LockWait;
  /**
   * Whether to insert a missing row, perhaps with values for columns that need one. Default: true.
   * With false, a missing row is a `TransactionError` (`missing`), or null with `wait: 'skip'`.
   * MySQL needs those values even if the row exists, and a table with AUTO_INCREMENT skips a number
   * each time; false avoids both, and a round trip.
   */
  readonly insert?: boolean | Columns;
}

const OPTIONS = ['table', 'key', 'mode', 'wait', 'insert'];

/** How long an insert waits under `nowait`, in ms; MySQL rounds it up to a second. */
const SHORTEST = 1;

interface RowLockTerms {
  readonly connection: SqlConnection;
  readonly table: string;
  readonly key: Piece;
  readonly mode: 'update' | 'share';
  readonly wait: CheckedWait;
  /** The statement that inserts the row. */
  readonly insert: Piece | undefined;
}

/**
 * Locks a row until the transaction ends; there is nothing to release. Returns the row as it is
 * under the lock; with `wait: 'skip'`, null if another transaction holds it. (`nowait` and
 * time-outs fail instead, since on PostgreSQL the transaction is lost by then.)
 *
 * @example
 * import { rowLock } from 'holdfast/sql';
 *
 * await sql.begin(async (tx) => {
 *   const { n } = await rowLock<{ n: number }>(tx, { table: 'stock', key: { sku } });
 *   if (n > 0) await tx`update stock set n = ${n - 1} where sku = ${sku}`;
 * });
 *
 * @throws UsageError, also if there is no such table or column, if the key is not unique, and on
 *   PostgreSQL above READ COMMITTED, before it waits: reads under the lock would be as old as the
 *   transaction's first statement.
 * @throws TransactionError if the lock was not granted: roll back.
 */
export function rowLock<T extends object = Row>(
  tx: SqlTransaction,
  options: RowLockOptions & { readonly wait: 'skip' },
): Promise<T | null>;
export function rowLock<T extends object = Row>(
  tx: SqlTransaction,
  options: RowLockOptions,
): Promise<T>;
export function rowLock(tx: SqlTransaction, options: RowLockOptions): Promise<Row | null> {
  return lock(readAsked(transactionOf(tx), options));
}

async function lock(asked: RowLockTerms): Promise<Row | null> {
  const { connection, wait } = asked;
  await connection.mustHaveBegun();
  if (typeof wait === 'number') return within(connection, wait, () => take(asked, 'block'));
  if (wait !== 'skip' || connection.dialect === 'postgres') return take(asked, wait);
  try {
    // With SKIP LOCKED a busy row would look like a missing one, and the insert would wait for it.
    return await take(asked, asked.insert ? 'nowait' : 'skip');
  } catch (error) {
    if (isLockError(error, 'TRANSACTION')) {
      if ((error as TransactionError).reason === 'lock-timeout') return null;
    }
    throw error;
  }
}

async function take(asked: RowLockTerms, wait: UntimedWait): Promise<Row | null> {
  const { connection, insert, mode } = asked;
  const postgres = connection.dialect === 'postgres';
  if (postgres || !insert || mode === 'share' || wait !== 'block') {
    const row = await find(asked, wait);
    if (row) return row;
    await mustReadLatest(connection);
    if (!insert) return absent(asked);
    if (wait === 'skip' && (await exists(asked))) return null;
  }
  const make = async (): Promise<Row | undefined> => {
    // Only PostgreSQL returns what it inserts.
    if (postgres) return (await connection.rows(insert.sql, insert.values))[0];
    await connection.count(insert.sql, insert.values);
    return undefined;
  };
  const made = wait === 'nowait' ? await within(connection, SHORTEST, make) : await make();
  if (made) return made;
  return (await find(asked, wait)) ?? absent(asked);
}

async function find(asked: RowLockTerms, wait: UntimedWait): Promise<Row | undefined> {
  const { connection, table, key, mode } = asked;
  const locking = lockingClause(connection.dialect, mode, wait);
  const where = connection.dialect === 'postgres' ? `${key.sql} AND ${READS_LATEST}` : key.sql;
  const sql = `SELECT t.* FROM ${table} AS t WHERE ${where} LIMIT 2 ${locking}`;
  const rows = await connection.rows(sql, key.values);
  if (rows.length > 1) {
    throw new UsageError(`The key is not unique: it names several rows of ${table}.`);
  }
  return rows[0];
}

async function exists({ connection, table, key }: RowLockTerms): Promise<boolean> {
  const sql = `SELECT 1 AS "one" FROM ${table} WHERE ${key.sql} LIMIT 1`;
  return (await connection.rows(sql, key.values)).length > 0;
}

function absent({ wait, table }: RowLockTerms): null {
  if (wait === 'skip') return null;
  const message = `There is no such row in ${table}.`;
  throw new TransactionError(message, { reason: 'missing', retryable: false });
}

function lockingClause(dialect: Dialect, mode: 'update' | 'share', wait: UntimedWait): string {
  const how = { block: '', nowait: ' NOWAIT', skip: ' SKIP LOCKED' }[wait];
  if (mode === 'update') return `FOR UPDATE${how}`;
  if (dialect === 'postgres') return `FOR SHARE${how}`;
  // MariaDB has only the old form, and on MySQL only the new one takes NOWAIT or SKIP LOCKED. Each
  // server ignores the comments for the other.
  return how === ''
    ? 'LOCK IN SHARE MODE'
    : `/*!80000 FOR SHARE${how} *//*M! LOCK IN SHARE MODE${how} */`;
}

function readAsked(connection: SqlConnection, options: RowLockOptions): RowLockTerms {
  const { dialect } = connection;
  const read = readOptions(options, OPTIONS, 'rowLock');
  const mode = oneOf('update', 'share')(read.mode, 'mode');
  const { insert = true } = read;
  const table = quoteTable(read.table);
  const key = readKey(read.key, dialect);
  const wait = readWait(read.wait);
  const values = insert === true ? {} : insert;
  const made = values === false ? undefined : insertOf(table, { ...read, values }, dialect);
  return { connection, table, key, mode, wait, insert: made };
}

function insertOf(
  table: string,
  { key, values }: { readonly key: Columns; readonly values: Columns },
  dialect: Dialect,
): Piece {
  const ofKey = readColumns(key, { what: 'The key', dialect });
  const others =
    Object.keys(values).length === 0 ? [] : readColumns(values, { what: 'insert', dialect });
  const all = new Map([...others, ...ofKey]);
  const columns = [...all.keys()].join(', ');
  const marks = Array.from(all, () => '?').join(', ');
  const names = ofKey.map(([column]) => column);
  const known =
    dialect === 'postgres'
      ? `ON CONFLICT (${names.join(', ')}) DO NOTHING RETURNING *`
      : `ON DUPLICATE KEY UPDATE ${names[0]} = ${names[0]}`;
  const sql = `INSERT INTO ${table} (${columns}) VALUES (${marks}) ${known}`;
  return { sql, values: [...all.values()] };
}
