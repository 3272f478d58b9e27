/**
 * What is read under a lock must be at least as new as the lock.
 *
 * PostgreSQL above READ COMMITTED reads everything from one snapshot, that of the transaction's
 * first statement. The statement that waits for a lock is such a statement, so the snapshot is
 * older than the lock: what the previous holder committed stays hidden, and no error says so. At
 * SERIALIZABLE the server fails one of two transactions, but only if both are serializable. No
 * statement can wait for these locks before there is a snapshot, so they are refused there, before
 * the wait. MySQL's locks and inserts need no snapshot: the first plain read after them takes it.
 * What would break it: on MySQL at REPEATABLE READ, a plain read before the lock.
 */
import { UsageError } from '../base/errors.ts';
import type { Session } from './session.ts';

const LEVEL = "pg_catalog.current_setting('transaction_isolation')";

/** On PostgreSQL: whether each statement reads what is committed by then. */
export const READS_LATEST: string = `${LEVEL} IN ('read committed', 'read uncommitted')`;

/** @throws UsageError if what this transaction reads under a lock may be older than the lock. */
export async function mustReadLatest(session: Session): Promise<void> {
  if (session.dialect === 'mysql') return;
  const [row] = await session.rows(`SELECT ${LEVEL} AS "level" WHERE NOT ${READS_LATEST}`);
  if (row) throw readsOlder(String(row.level));
}

function readsOlder(level: string): UsageError {
  return new UsageError(
    `This transaction is ${level.toUpperCase()}: what it reads under a lock may be older than the` +
      ' lock. Begin it at READ COMMITTED. (At SERIALIZABLE in all programs no lock is needed.)',
  );
}
