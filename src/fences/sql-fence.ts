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
import { UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import type { SqlTransaction } from '../database-locks/clients.ts';
import { checkKind, type EnterToken, readLease, stale } from './entering.ts';
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

/**
 * A fence in the user's own database.
 *
 * @example
 * import { sqlFence } from 'holdfast/fence';
 *
 * const fence = sqlFence({ dialect: 'sqlite' });
 * await locks.mutex('stock').run((lease) =>
 *   transaction(db, () => {
 *     fence.enter(db, lease);
 *     sell(db, sku);
 *   }),
 * );
 *
 * @throws UsageError
 */
export function sqlFence(options: SqlFenceOptions<'sqlite'>): SqliteFence;
/**
 * A fence in a database on a server, whose table, `schema`, is already there.
 *
 * @example
 * import { sqlFence } from 'holdfast/fence';
 *
 * const fence = sqlFence({ dialect: 'postgres' });
 * await locks.mutex('stock').run((lease) =>
 *   sql.begin(async (tx) => {
 *     await fence.enter(tx, lease);
 *     await tx`update stock set n = n - 1 where sku = ${sku}`;
 *   }),
 * );
 *
 * @throws UsageError
 */
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
