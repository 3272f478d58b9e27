/**
 * The common part of locks inside of a transaction: they limit the wait, and ensure that reads
 * under a lock are at least as new as the lock.
 *
 * PostgreSQL above READ COMMITTED reads everything from one snapshot, that of the transaction's
 * first statement. The statement that waits for a lock is such a statement, so the snapshot is
 * older than the lock: the previous holder's commits stay hidden, and no error reports it. At
 * SERIALIZABLE the server fails one of two transactions, but only if both are serializable. No
 * statement can wait for these locks before it has a snapshot, so they are refused there, before
 * the wait. MySQL's locks and inserts need no snapshot: the first plain read after them takes it.
 * What would break it: on MySQL at REPEATABLE READ, a plain read before the lock.
 */
import { type Duration, parseDuration } from '../base/duration.ts';
import { UsageError } from '../base/errors.ts';
import type { SqlConnection } from '../clients/sql/connection.ts';

/**
 * How long to wait for a lock that another transaction holds. `block` (the default): as long as the
 * database's own limits allow. `nowait`: not at all, and fail. `skip`: not at all, and return that
 * it was busy. A duration: so long, and fail; MySQL counts whole seconds, rounded up.
 */
export type LockWait = 'block' | 'nowait' | 'skip' | Duration;

/** How the statement itself says it. */
export type UntimedWait = Exclude<LockWait, Duration>;

/** A number is ms, at least 1. */
export type CheckedWait = UntimedWait | number;

/** @throws UsageError */
export function readWait(wait: LockWait = 'block'): CheckedWait {
  if (wait === 'block' || wait === 'nowait' || wait === 'skip') return wait;
  return parseDuration(wait, 'wait') || 'nowait';
}

/** Runs `work` with this limit on each wait for a lock. */
export async function within<T>(
  connection: SqlConnection,
  ms: number,
  work: () => Promise<T>,
): Promise<T> {
  if (connection.dialect === 'postgres') {
    const set = "set_config('lock_timeout', ?, true)";
    const look = `SELECT current_setting('lock_timeout') AS "before", ${set}`;
    const [row] = await connection.rows(look, [`${ms}ms`]);
    const done = await work();
    // Not after a failure: the rollback, the only step left, restores the setting.
    await connection.rows(`SELECT ${set}`, [row?.before]);
    return done;
  }
  const limit = '@@SESSION.innodb_lock_wait_timeout';
  const [row] = await connection.rows(`SELECT ${limit} AS "before"`);
  const set = (seconds: number): Promise<number> => connection.count(`SET ${limit} = ${seconds}`);
  await set(Math.max(1, Math.ceil(ms / 1000)));
  let done: T;
  try {
    done = await work();
  } catch (error) {
    // The caller must get the first error, even if the connection has broken since.
    await set(Number(row?.before)).catch(() => {});
    throw error;
  }
  await set(Number(row?.before));
  return done;
}

const LEVEL = "pg_catalog.current_setting('transaction_isolation')";

/** On PostgreSQL: whether each statement sees all earlier commits. */
export const READS_LATEST: string = `${LEVEL} IN ('read committed', 'read uncommitted')`;

/** @throws UsageError if reads of this transaction under a lock may be older than the lock. */
export async function mustReadLatest(connection: SqlConnection): Promise<void> {
  if (connection.dialect === 'mysql') return;
  const [row] = await connection.rows(`SELECT ${LEVEL} AS "level" WHERE NOT ${READS_LATEST}`);
  if (!row) return;
  throw new UsageError(
    `This transaction is ${String(row.level).toUpperCase()}: what it reads under a lock may be` +
      ' older than the lock. Begin it at READ COMMITTED. (If all programs use SERIALIZABLE, no' +
      ' lock is needed.)',
  );
}
