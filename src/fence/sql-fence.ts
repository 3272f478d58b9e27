/**
 * The fence: what really protects the guarded data when a holder believes too long that it holds.
 *
 * Invariant: once a holder has entered with its token, no transaction of a holder with a smaller
 * one commits a write. It holds because the fence is claim-first. `enter` is the first statement of
 * each transaction and a write to the fence's row: it raises the row to the holder's token, or is
 * refused because a larger one is there. The row stays locked until commit, so what is read after
 * `enter` cannot be overwritten by an older holder, and a stale one finds the larger token whenever
 * it comes. Checking the token only when writing would lose updates: a late write of 33 passes when
 * 34 has read but not yet written. Readers raise a floor that only writers have to pass.
 * What would break it: `enter` outside of the transaction that writes, after its reads, or against
 * another database than the one that holds the data.
 * The reasoning, with a worked interleaving, is in docs/guide/fences.md.
 */
import { StaleTokenError, UnsupportedError, UsageError } from '../errors.ts';
import { checkName, MAX_NAME_BYTES, MAX_PREFIX_BYTES } from '../names.ts';
import { reading, readOptions } from '../read-options.ts';
import { show } from '../show.ts';
import type { FencingToken, Kind } from '../store.ts';

/** As much of a connection of `node:sqlite`, `better-sqlite3` or `libsql` as the fence uses. */
export interface SqliteConnection {
  prepare(sql: string): { get(...parameters: string[]): unknown };
  exec(sql: string): unknown;
  /** better-sqlite3 and libsql. */
  readonly inTransaction?: boolean;
  /** node:sqlite. */
  readonly isTransaction?: boolean;
}

export interface SqlFenceOptions {
  readonly dialect: 'sqlite';
  /** Default `holdfast_fence`. Made when it is first needed. */
  readonly table?: string;
}

/** A token as `lease`, or as text that came from another process. */
export type EnterToken = Omit<FencingToken, 'token'> & { readonly token: bigint | string };

export interface SqlFence {
  /** The statement that makes the table, for those who keep their schema by hand. */
  readonly schema: string;
  /**
   * Raises the fence to this token. Call it first in every transaction that reads or writes what
   * the lock guards. It is synchronous, as the bindings are.
   * @throws StaleTokenError if a newer holder was here: roll back and stop.
   * @throws UsageError outside of a transaction, UnsupportedError for permits.
   */
  enter(connection: SqliteConnection, lease: EnterToken): void;
  /**
   * Makes the fence follow this lease's lineage from now on, whatever it has seen. An operator's
   * act, after locks have moved to another store; everybody else must be stopped.
   */
  adopt(connection: SqliteConnection, lease: EnterToken): void;
}

const OPTIONS = ['dialect', 'table'];

const KINDS: readonly Kind[] = ['mutex', 'read', 'write', 'permits'];

interface Row {
  readonly lineage: string;
  readonly token: string;
  readonly floor: string;
}

/**
 * A fence in the user's own database.
 * @throws UsageError
 */
export function sqlFence(options: SqlFenceOptions): SqlFence {
  const { dialect, table = 'holdfast_fence' } = readOptions(options, OPTIONS, 'sqlFence');
  if (dialect !== 'sqlite') {
    throw new UsageError(`sqlFence has the dialect 'sqlite', not ${show(dialect)}.`);
  }
  if (typeof table !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(table)) {
    throw new UsageError('table must be a plain identifier of at most 63 letters and digits.');
  }
  const sql = statements(table);

  function run(connection: SqliteConnection, statement: string, ...values: string[]): unknown {
    try {
      return connection.prepare(statement).get(...values);
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(`no such table: ${table}`)))
        throw error;
      connection.exec(sql.schema);
      return connection.prepare(statement).get(...values);
    }
  }

  return {
    schema: sql.schema,
    enter(connection, lease) {
      const { resource, lineage, kind, token } = readLease(lease);
      checkTransaction(connection);
      if (kind === 'permits') {
        throw new UnsupportedError('fence', 'Permits cannot be fenced: their holders are equals.');
      }
      const raise = kind === 'read' ? sql.raiseFloor : sql.raise;
      if (run(connection, raise, resource, lineage, String(token))) return;
      const seen = run(connection, sql.look, resource) as Row;
      const other =
        seen.lineage === lineage
          ? ''
          : ` It came from another store, ${seen.lineage}; this one's tokens come from ${lineage}.`;
      const newest = BigInt(kind === 'read' ? seen.token : max(seen.token, seen.floor));
      throw new StaleTokenError(resource, token, newest, other);
    },
    adopt(connection, lease) {
      const { resource, lineage, token } = readLease(lease);
      checkTransaction(connection);
      run(connection, sql.adopt, resource, lineage, String(token));
    },
  };
}

/**
 * Tokens travel as text: bindings differ in how they bind and read integers beyond 2^53.
 * Resources are compared byte by byte, as SQLite's default collation does.
 */
function statements(
  table: string,
): Record<'schema' | 'raise' | 'raiseFloor' | 'look' | 'adopt', string> {
  const row = `INSERT INTO ${table} AS f (resource, lineage, token, floor)`;
  return {
    schema: `CREATE TABLE IF NOT EXISTS ${table} (
  resource TEXT PRIMARY KEY,
  lineage TEXT NOT NULL,
  token INTEGER NOT NULL,
  floor INTEGER NOT NULL
) WITHOUT ROWID`,
    raise: `${row} VALUES (?, ?, CAST(? AS INTEGER), 0)
ON CONFLICT (resource) DO UPDATE SET token = excluded.token
WHERE f.lineage = excluded.lineage AND f.token <= excluded.token AND f.floor <= excluded.token
RETURNING 1 AS entered`,
    raiseFloor: `${row} VALUES (?, ?, 0, CAST(? AS INTEGER))
ON CONFLICT (resource) DO UPDATE SET floor = max(f.floor, excluded.floor)
WHERE f.lineage = excluded.lineage AND f.token <= excluded.floor
RETURNING 1 AS entered`,
    look: `SELECT lineage, CAST(token AS TEXT) AS token, CAST(floor AS TEXT) AS floor
FROM ${table} WHERE resource = ?`,
    adopt: `${row} VALUES (?, ?, CAST(? AS INTEGER), 0)
ON CONFLICT (resource) DO UPDATE SET lineage = excluded.lineage, token = excluded.token, floor = 0
RETURNING 1 AS entered`,
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

/** What came with a request may be anything. */
function readLease(lease: EnterToken): FencingToken {
  return reading('The lease', () => {
    const { resource, lineage, kind, token } = lease;
    checkName(resource, 'resource', MAX_PREFIX_BYTES + MAX_NAME_BYTES);
    checkName(lineage, 'lineage');
    if (kind !== undefined && !KINDS.includes(kind)) {
      throw new UsageError(`The kind of a lease is one of ${KINDS.join(', ')}, not ${show(kind)}.`);
    }
    return { resource, lineage, kind, token: checkToken(token) };
  });
}

/** SQLite's largest integer. */
const MAX_TOKEN = 2n ** 63n - 1n;

function checkToken(token: bigint | string): bigint {
  const value = typeof token === 'string' && /^[1-9]\d{0,18}$/.test(token) ? BigInt(token) : token;
  if (typeof value === 'bigint' && value > 0n && value <= MAX_TOKEN) return value;
  throw new UsageError(`A fencing token is a positive bigint, or one as text, not ${show(token)}.`);
}

function max(a: string, b: string): string {
  return BigInt(a) > BigInt(b) ? a : b;
}
