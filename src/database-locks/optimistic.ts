/**
 * Optimistic locking: read, change, and write only if the row is still as it was read.
 *
 * Invariant: every change that is reported was made to the row exactly as it was read. The write is
 * one statement that names the version it expects and gives the row another; if it matches no row,
 * another writer was faster, and the change runs again on that writer's row. Every server counts
 * the row, whether it counts matched or changed rows, since the version always changes. In a
 * transaction there is one attempt only: its snapshot may hide the newer row (MySQL's does from the
 * first read on), so that trying again could not succeed.
 * What would break it: a program that writes the row without raising the version.
 */
import { isLockError, LockError, type LockErrorOptions, UsageError } from '../base/errors.ts';
import { callable, readOptions } from '../base/options.ts';
import type { SqlDatabase } from '../clients/sql/clients.ts';
import { connectionOf, type SqlConnection } from '../clients/sql/connection.ts';
import { TransactionError } from '../clients/sql/errors.ts';
import {
  type Columns,
  type Piece,
  quote,
  quoteTable,
  type Row,
  readColumns,
  readKey,
} from '../clients/sql/sql.ts';
import { pauseAfter, triesOf } from './retrying.ts';
import {
  mustHaveRoom,
  readVersion,
  unchanged,
  type VersionColumn,
  type Versioned,
  versionColumns,
} from './version.ts';

export interface OptimisticOptions {
  /** `name` or `schema.name`, as the database spells it. */
  readonly table: string;
  /** A value for each column of a unique key. */
  readonly key: Columns;
  /** The column that every write raises: an integer. */
  readonly version: string;
  /**
   * How often to try. Default: 10, with pauses that grow to a second in all. If all fail, so many
   * writers want this row that waiting in a queue for it takes less time.
   */
  readonly attempts?: number;
  /** Ends the attempts; rejects with its reason. A write under way may still happen. */
  readonly signal?: AbortSignal;
}

/** All optimistic attempts failed. */
export class ConflictError extends LockError {
  /** The number of attempts; 0 if there was none. */
  readonly attempts: number;

  constructor(message: string, options: LockErrorOptions & { readonly attempts?: number } = {}) {
    super('CONFLICT', message, options);
    this.attempts = options.attempts ?? 0;
  }
}

const OPTIONS = ['table', 'key', 'version', 'attempts', 'signal'];

export interface OptimisticResult<T> {
  /** False if `change` left the row as it is. */
  readonly changed: boolean;
  /** 1 if no other writer was faster. */
  readonly attempts: number;
  /** The row as it was before. */
  readonly before: T;
}

/** Returns the columns to set, or nothing to leave the row as it is. It may run several times. */
export type Change<T> = (
  row: T,
  attempt: number,
) => Columns | null | undefined | Promise<Columns | null | undefined>;

/**
 * Changes a row without a lock.
 *
 * @example
 * import { optimistic } from 'holdfast/sql';
 *
 * const row = { table: 'stock', key: { sku }, version: 'version' };
 * await optimistic<{ n: number }>(pool, row, ({ n }) => (n > 0 ? { n: n - 1 } : undefined));
 *
 * @throws ConflictError if others were faster in every attempt, or once in a transaction.
 * @throws UsageError, also if there is no such table or column; TransactionError.
 */
export function optimistic<T extends object = Row>(
  db: SqlDatabase,
  options: OptimisticOptions,
  change: Change<T>,
): Promise<OptimisticResult<T>> {
  const connection = connectionOf(db);
  const read = readOptions(options, OPTIONS, 'optimistic');
  const attempts = triesOf(10)(read.attempts, 'attempts');
  callable(change, 'The change');
  const where = { table: quoteTable(read.table), column: quote(read.version, 'The version') };
  const key = readKey(read.key, connection.dialect);
  const terms = { connection, where, key, attempts, signal: read.signal };
  const asked = { ...terms, change: change as unknown as Change<Row> };
  return tryAll(asked) as Promise<unknown> as Promise<OptimisticResult<T>>;
}

interface OptimisticTerms {
  readonly connection: SqlConnection;
  readonly where: VersionColumn;
  readonly key: Piece;
  readonly attempts: number;
  readonly signal: AbortSignal | undefined;
  readonly change: Change<Row>;
}

async function tryAll(asked: OptimisticTerms): Promise<OptimisticResult<Row>> {
  const { connection, attempts, signal } = asked;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const tried = await tryOnce(asked, attempt);
    if ('changed' in tried) return tried;
    if (attempt === attempts || (await connection.inTransaction())) {
      const message = `Other transactions changed the row first in each of ${attempt} attempts.`;
      throw new ConflictError(message, { attempts: attempt, ...tried });
    }
    await pauseAfter(attempt, signal);
  }
}

/** Without a result if another writer was faster. */
async function tryOnce(
  asked: OptimisticTerms,
  attempt: number,
): Promise<OptimisticResult<Row> | { readonly cause?: unknown }> {
  const version = await read(asked);
  const { row: before } = version;
  const columns = await asked.change({ ...before }, attempt);
  const result = { before, attempts: attempt, changed: true };
  if (columns === null || columns === undefined) return { ...result, changed: false };
  asked.signal?.throwIfAborted();
  try {
    return (await write(asked, version, columns)) ? result : {};
  } catch (error) {
    // At a stricter isolation level, a single statement learns of a faster writer in this way. A
    // transaction is lost by then, so only the caller can go on.
    if (asked.connection.single && isLockError(error, 'TRANSACTION')) {
      const { reason } = error as TransactionError;
      if (reason === 'serialization' || reason === 'deadlock') return { cause: error };
    }
    throw error;
  }
}

async function read({ connection, where, key }: OptimisticTerms): Promise<Versioned> {
  const columns = versionColumns(connection, where);
  const sql = `SELECT t.*, ${columns} FROM ${where.table} AS t WHERE ${key.sql} LIMIT 2`;
  const [row, other] = await connection.rows(sql, key.values);
  if (other) {
    throw new UsageError(`The key is not unique: it names several rows of ${where.table}.`);
  }
  if (row) return readVersion(row);
  const message = `There is no such row in ${where.table}.`;
  throw new TransactionError(message, { reason: 'missing', retryable: false });
}

async function write(
  { connection, where, key }: OptimisticTerms,
  version: Versioned,
  columns: Columns,
): Promise<boolean> {
  const what = 'What the change returned';
  const set = readColumns(columns, { what, dialect: connection.dialect });
  if (set.some(([column]) => column === where.column)) {
    throw new UsageError('The change must not set the version column: every write increments it.');
  }
  await mustHaveRoom(connection, where, version);
  const changes = [
    ...set.map(([column]) => `${column} = ?`),
    `${where.column} = ${where.column} + 1`,
  ];
  const sql = `UPDATE ${where.table} SET ${changes.join(', ')}
WHERE ${key.sql} AND ${unchanged(connection, where)}`;
  const values = [...set.map(([, value]) => value), ...key.values, version.text];
  return (await connection.count(sql, values)) === 1;
}
