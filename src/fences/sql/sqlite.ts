/** Entries into fences in SQLite, through a synchronous binding. */
import { UsageError } from '../../base/errors.ts';
import type { Step, Steps } from './entering.ts';

/** The part of a connection of `node:sqlite`, `better-sqlite3` or `libsql` that the fence uses. */
export interface SqliteConnection {
  prepare(sql: string): { get(...parameters: string[]): unknown };
  exec(sql: string): unknown;
  /** better-sqlite3 and libsql. */
  readonly inTransaction?: boolean;
  /** node:sqlite. */
  readonly isTransaction?: boolean;
}

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

function take(connection: SqliteConnection, schema: string, { sql, values }: Step): unknown {
  const get = (): unknown => connection.prepare(sql).get(...(values as string[]));
  try {
    return get();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('no such table'))) throw error;
    connection.exec(schema);
    return get();
  }
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
