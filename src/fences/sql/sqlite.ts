/**
 * Entries into fences in SQLite, through a synchronous binding.
 *
 * Preparing a statement takes twice as long as running it, so each connection's are kept, but
 * weakly: a statement of node:sqlite keeps its connection alive. One that has failed is not kept:
 * libsql leaves a statement open that was refused as busy, and node:sqlite finalizes all of them
 * when a connection is closed.
 * What would break it: a second try after SQLite has ended the transaction, since that try would
 * be a transaction of its own. A missing table and a finalized statement end none.
 */
import { isError, UsageError } from '../../base/errors.ts';
import type { EntryStep, Steps } from './dialects.ts';

/** The part of a connection of `node:sqlite`, `better-sqlite3` or `libsql` that the fence uses. */
export interface SqliteConnection {
  prepare(sql: string): { get(...parameters: string[]): unknown };
  exec(sql: string): unknown;
  /** better-sqlite3 and libsql. */
  readonly inTransaction?: boolean;
  /** node:sqlite. */
  readonly isTransaction?: boolean;
}

type SqliteStep = ReturnType<SqliteConnection['prepare']>;

const prepared = new WeakMap<SqliteConnection, Map<string, WeakRef<SqliteStep>>>();

/** @throws UsageError outside of a transaction */
export function runOnSqlite(connection: SqliteConnection, schema: string, steps: Steps): void {
  if (typeof connection?.prepare !== 'function' || typeof connection.exec !== 'function') {
    throw new UsageError('The fence takes a connection of node:sqlite, better-sqlite3 or libsql.');
  }
  if (!(connection.inTransaction ?? connection.isTransaction ?? begun(connection))) {
    throw new UsageError('The fence must be entered inside the transaction that it protects.');
  }
  let step = steps.next();
  while (!step.done) step = steps.next(take(connection, schema, step.value));
}

function take(connection: SqliteConnection, schema: string, { sql, values }: EntryStep): unknown {
  const get = (): unknown => getKept(connection, sql, values as string[]);
  return again(
    () => again(get, isFinalized),
    (error) => {
      const missing = isError(error) && error.message.includes('no such table');
      if (missing) connection.exec(schema);
      return missing;
    },
  );
}

function getKept(connection: SqliteConnection, sql: string, values: readonly string[]): unknown {
  const kept = prepared.get(connection) ?? new Map<string, WeakRef<SqliteStep>>();
  const statement = kept.get(sql)?.deref() ?? connection.prepare(sql);
  kept.delete(sql);
  const row = statement.get(...values);
  prepared.set(connection, kept.set(sql, new WeakRef(statement)));
  return row;
}

function again<T>(act: () => T, mends: (error: unknown) => boolean): T {
  try {
    return act();
  } catch (error) {
    if (!mends(error)) throw error;
    return act();
  }
}

/** An error of node:sqlite, where the connection was closed and opened again. */
function isFinalized(error: unknown): boolean {
  return isError(error) && 'code' in error && error.code === 'ERR_INVALID_STATE';
}

/** Early versions of node:sqlite do not show whether they are in a transaction; a BEGIN does. */
function begun(connection: SqliteConnection): boolean {
  try {
    connection.exec('BEGIN');
  } catch {
    return true;
  }
  connection.exec('ROLLBACK');
  return false;
}
