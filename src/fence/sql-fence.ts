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
import type { SqlTransaction } from '../sql/clients.ts';
import type { FencingToken, Kind } from '../store.ts';
import { serverRows } from './server-rows.ts';
import { type SqliteConnection, sqliteRows } from './sqlite-rows.ts';

export interface SqlFenceOptions<D extends string = 'sqlite' | 'postgres' | 'mysql'> {
  /** `mysql` is MariaDB's as well. */
  readonly dialect: D;
  /**
   * Default `holdfast_fence`; on servers it may be `schema.name`. In SQLite it is made when it is
   * first needed, elsewhere by you, from `schema`: there it would commit your transaction (MySQL),
   * or need rights that a program should not have.
   */
  readonly table?: string;
}

/** A token as `lease`, or as text that came from another process. */
export type EnterToken = Omit<FencingToken, 'token'> & { readonly token: bigint | string };

/** A fence in a database to which `Connection` leads; its verbs answer with `Done`. */
interface Fence<Connection, Done> {
  /** The statement that makes the table. */
  readonly schema: string;
  /**
   * Raises the fence to this token. Call it first in every transaction that reads or writes what
   * the lock guards.
   * @throws StaleTokenError if a newer holder was here: roll back and stop.
   * @throws UsageError outside of a transaction, UnsupportedError for permits.
   * @throws TransactionError if a server failed: roll back, and perhaps run it again.
   */
  enter(connection: Connection, lease: EnterToken): Done;
  /**
   * Makes the fence follow this lease's lineage from now on, whatever it has seen. An operator's
   * act, after locks have moved to another store; everybody else must be stopped.
   */
  adopt(connection: Connection, lease: EnterToken): Done;
}

/** It is synchronous, as the bindings are. */
export interface SqliteFence extends Fence<SqliteConnection, void> {}

export interface SqlFence extends Fence<SqlTransaction, Promise<void>> {}

const OPTIONS = ['dialect', 'table'];

const KINDS: readonly Kind[] = ['mutex', 'read', 'write', 'permits'];

/**
 * A fence in the user's own database.
 * @throws UsageError
 */
export function sqlFence(options: SqlFenceOptions<'sqlite'>): SqliteFence;
export function sqlFence(options: SqlFenceOptions<'postgres' | 'mysql'>): SqlFence;
export function sqlFence(options: SqlFenceOptions): SqliteFence | SqlFence {
  const { dialect, table = 'holdfast_fence' } = readOptions(options, OPTIONS, 'sqlFence');
  if (dialect === 'sqlite') return sqliteFence(table);
  if (dialect === 'postgres' || dialect === 'mysql') return serverFence(dialect, table);
  throw new UsageError(
    `sqlFence has the dialects 'sqlite', 'postgres' and 'mysql', not ${show(dialect)}.`,
  );
}

function sqliteFence(table: string): SqliteFence {
  const rows = sqliteRows(table);
  return {
    schema: rows.schema,
    enter(connection, lease) {
      const token = readLease(lease);
      rows.checkTransaction(connection);
      checkKind(token);
      const seen = rows.raise(connection, token);
      if (seen) throw stale(token, seen);
    },
    adopt(connection, lease) {
      const token = readLease(lease);
      rows.checkTransaction(connection);
      rows.adopt(connection, token);
    },
  };
}

function serverFence(dialect: 'postgres' | 'mysql', table: string): SqlFence {
  const rows = serverRows(dialect, table);
  return {
    schema: rows.schema,
    enter(tx, lease) {
      const token = readLease(lease);
      const session = rows.sessionOf(tx);
      const enter = async (): Promise<void> => {
        checkKind(token);
        const seen = await rows.raise(session, token);
        if (seen) throw stale(token, seen);
      };
      return enter();
    },
    adopt(tx, lease) {
      const token = readLease(lease);
      return rows.adopt(rows.sessionOf(tx), token);
    },
  };
}

/** What the fence's row says to somebody who is refused. */
export interface Seen {
  readonly lineage: string;
  readonly token: bigint;
  readonly floor: bigint;
}

function stale({ resource, lineage, kind, token }: FencingToken, seen: Seen): StaleTokenError {
  const other =
    seen.lineage === lineage
      ? ''
      : ` It came from another store, ${seen.lineage}; this one's tokens come from ${lineage}.`;
  const newest = kind === 'read' || seen.token > seen.floor ? seen.token : seen.floor;
  return new StaleTokenError(resource, token, newest, other);
}

function checkKind({ kind }: FencingToken): void {
  if (kind === 'permits') {
    throw new UnsupportedError('fence', 'Permits cannot be fenced: their holders are equals.');
  }
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

/** The largest integer of SQLite, PostgreSQL and MySQL. */
const MAX_TOKEN = 2n ** 63n - 1n;

function checkToken(token: bigint | string): bigint {
  const value = typeof token === 'string' && /^[1-9]\d{0,18}$/.test(token) ? BigInt(token) : token;
  if (typeof value === 'bigint' && value > 0n && value <= MAX_TOKEN) return value;
  throw new UsageError(`A fencing token is a positive bigint, or one as text, not ${show(token)}.`);
}
