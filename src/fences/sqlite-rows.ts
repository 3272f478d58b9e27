/** The fence's rows in SQLite, through a binding that answers at once. */
import { UsageError } from '../base/errors.ts';
import { reading } from '../base/options.ts';
import type { FencingToken } from '../contract/token.ts';
import type { Seen } from './entering.ts';
import { statements } from './statements.ts';

/** As much of a connection of `node:sqlite`, `better-sqlite3` or `libsql` as the fence uses. */
export interface SqliteConnection {
  prepare(sql: string): { get(...parameters: string[]): unknown };
  exec(sql: string): unknown;
  /** better-sqlite3 and libsql. */
  readonly inTransaction?: boolean;
  /** node:sqlite. */
  readonly isTransaction?: boolean;
}

export interface SqliteRows {
  readonly schema: string;
  /** @throws UsageError */
  checkTransaction(connection: SqliteConnection): void;
  /** Nothing if it was let in. */
  raise(connection: SqliteConnection, token: FencingToken): Seen | undefined;
  adopt(connection: SqliteConnection, token: FencingToken): void;
}

/** Resources are compared byte by byte, as SQLite's default collation does. */
export function sqliteRows(table: string): SqliteRows {
  if (typeof table !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(table)) {
    throw new UsageError('table must be a plain identifier of at most 63 letters and digits.');
  }
  const sql = statements(table);
  const schema = `CREATE TABLE IF NOT EXISTS ${table} (
  resource TEXT PRIMARY KEY,
  lineage TEXT NOT NULL,
  token INTEGER NOT NULL,
  floor INTEGER NOT NULL
) WITHOUT ROWID`;

  function run(connection: SqliteConnection, statement: string, ...values: string[]): unknown {
    try {
      return connection.prepare(statement).get(...values);
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(`no such table: ${table}`)))
        throw error;
      connection.exec(schema);
      return connection.prepare(statement).get(...values);
    }
  }

  return {
    schema,
    checkTransaction,
    raise(connection, { resource, lineage, kind, token }) {
      const statement = kind === 'read' ? sql.raiseFloor : sql.raise;
      if (run(connection, statement, resource, lineage, String(token))) return undefined;
      const seen = run(connection, sql.look, resource) as Record<keyof Seen, string>;
      return { lineage: seen.lineage, token: BigInt(seen.token), floor: BigInt(seen.floor) };
    },
    adopt(connection, { resource, lineage, token }) {
      run(connection, sql.adopt, resource, lineage, String(token));
    },
  };
}

function checkTransaction(connection: SqliteConnection): void {
  const begins = reading('The connection', () => {
    if (typeof connection?.prepare === 'function' && typeof connection.exec === 'function') {
      return connection.inTransaction ?? connection.isTransaction ?? begun(connection);
    }
    throw new UsageError('The fence takes a connection of node:sqlite, better-sqlite3 or libsql.');
  });
  if (begins) return;
  throw new UsageError('The fence must be entered inside the transaction that it protects.');
}

/** Early versions of node:sqlite do not say whether they are in a transaction; SQLite does. */
function begun(connection: SqliteConnection): boolean {
  try {
    connection.exec('BEGIN');
  } catch {
    return true;
  }
  connection.exec('ROLLBACK');
  return false;
}
