/**
 * The fence where the guarded data is in a database that has transactions.
 *
 * Invariant: once a holder has entered with its token, no transaction of a holder with a smaller
 * one commits a write. It holds because the fence is claim-first. `enter` is the first statement of
 * each transaction and a write to the fence's row: it raises the row to the holder's token, or is
 * refused because a larger one is there. The row stays locked until commit, so an older holder
 * cannot overwrite data read after `enter`, and a stale one finds the larger token whenever it
 * comes. Checking the token only when writing would lose updates: a late write of 33 passes when 34
 * has read but not yet written. Readers raise a floor that only writers have to pass.
 * Reads after `enter` see the commits of the last holder. On PostgreSQL at READ COMMITTED each
 * statement takes a new snapshot; above it the snapshot is the first statement's, and the server
 * fails that one (a serialization failure) if the row was changed since. On MySQL the write fixes
 * no snapshot: the first read after it does.
 * What would break it: `enter` outside of the transaction that writes, after its reads, or against
 * another database than the one that holds the data; on MySQL at REPEATABLE READ, a snapshot that
 * is older than the entry (START TRANSACTION WITH CONSISTENT SNAPSHOT).
 * The reasoning, with a worked interleaving, is in docs/guide/fences.md.
 */
import { isLockError, UsageError } from '../../base/errors.ts';
import { readOptions } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import type { SqlTransaction } from '../../clients/sql/clients.ts';
import { checkColumns } from '../../clients/sql/columns.ts';
import { type SqlConnection, transactionOf } from '../../clients/sql/connection.ts';
import { quoteTable } from '../../clients/sql/sql.ts';
import { type Fence, fenced, fenceOf } from '../fence.ts';
import { entering, FENCE_SQL, type FenceDialect, NEEDS, type Steps } from './dialects.ts';
import { runOnSqlite, type SqliteConnection } from './sqlite.ts';

export interface SqlFenceOptions<D extends FenceDialect = FenceDialect> {
  /** `mysql` also serves MariaDB. */
  readonly dialect: D;
  /**
   * Default `holdfast_fence`; on servers it may be `schema.name`. In SQLite the fence makes it when
   * needed; elsewhere you make it, from `schema`: the fence would commit your transaction (MySQL),
   * or need rights that a program should not have.
   */
  readonly table?: string;
}

/**
 * The entry is the transaction: call `enter` first in each one that reads or writes the guarded
 * data. With SQLite it is synchronous, as the bindings are.
 */
export interface SqlFence<Through = SqlTransaction, Entered = Promise<void>>
  extends Fence<Through, Entered> {
  /** The statement that makes the table. */
  readonly schema: string;
}

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
export function sqlFence(options: SqlFenceOptions<'sqlite'>): SqlFence<SqliteConnection, void>;
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
export function sqlFence(options: SqlFenceOptions): SqlFence<SqliteConnection, void> | SqlFence {
  const given = readOptions(options, ['dialect', 'table'], 'sqlFence');
  const { dialect, table = 'holdfast_fence' } = given;
  if (!['sqlite', 'postgres', 'mysql'].includes(dialect)) {
    throw new UsageError(`dialect must be 'sqlite', 'postgres' or 'mysql', not ${show(dialect)}.`);
  }
  const sql = FENCE_SQL[dialect](table);
  const { schema } = sql;
  if (dialect === 'sqlite') {
    const fence = fenceOf<SqliteConnection, void>((verb, connection, lease) =>
      runOnSqlite(connection, schema, entering(sql, verb, fenced(lease))),
    );
    return { ...fence, schema };
  }
  let looked = false;
  const fence = fenceOf<SqlTransaction, Promise<void>>(async (verb, tx, lease) => {
    const steps = entering(sql, verb, fenced(lease));
    const connection = transactionOf(tx, INSIDE);
    const { dialect: found } = connection;
    if (found !== dialect) {
      throw new UsageError(`The fence is for ${dialect}, but its transaction is of ${found}.`);
    }
    await runOnServer(connection, schema, steps);
    if (looked) return;
    // No transaction waits for another one's look. A read before the entry could fix what is read
    // after it.
    await checkColumns(connection, quoteTable(table), NEEDS);
    looked = true;
  });
  return { ...fence, schema };
}

const INSIDE = 'A fence is entered inside the transaction that writes the guarded data.';

/** In PostgreSQL, MySQL and MariaDB. @throws UsageError if the table is missing. */
async function runOnServer(connection: SqlConnection, schema: string, steps: Steps): Promise<void> {
  await connection.mustHaveBegun();
  try {
    let step = steps.next();
    while (!step.done) {
      const { sql, values, brings } = step.value;
      const [row] = brings ? await connection.rows(sql, values) : [];
      if (!brings) await connection.count(sql, values);
      step = steps.next(row);
    }
  } catch (error) {
    if (!isLockError(error, 'USAGE') || error.cause === undefined) throw error;
    const what = `The fence needs its table. Create it once:\n${schema}`;
    throw new UsageError(`${error.message}. ${what}`, { cause: error.cause });
  }
}
