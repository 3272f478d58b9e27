/** Entries into fences in PostgreSQL, MySQL and MariaDB, through the caller's transaction. */
import { isLockError, UsageError } from '../../base/errors.ts';
import type { SqlTransaction } from '../../clients/sql/clients.ts';
import { type SqlConnection, transactionOf } from '../../clients/sql/connection.ts';
import type { Dialect } from '../../clients/sql/sql.ts';
import type { Steps } from './entering.ts';

const INSIDE = 'A fence is entered inside the transaction that writes the guarded data.';

/** @throws UsageError if `tx` is not a transaction of this dialect, or the table is missing. */
export async function runOnServer(
  tx: SqlTransaction,
  { dialect, schema }: { readonly dialect: Dialect; readonly schema: string },
  steps: Steps,
): Promise<SqlConnection> {
  const connection = transactionOf(tx, INSIDE);
  if (connection.dialect !== dialect) {
    const message = `The fence is for ${dialect}, but its transaction is of ${connection.dialect}.`;
    throw new UsageError(message);
  }
  await connection.mustHaveBegun();
  try {
    let step = steps.next();
    while (!step.done) {
      const { sql, values, brings } = step.value;
      const [row] = brings ? await connection.rows(sql, values) : [];
      if (!brings) await connection.count(sql, values);
      step = steps.next(row);
    }
    return connection;
  } catch (error) {
    if (!isLockError(error, 'USAGE') || error.cause === undefined) throw error;
    const what = `The fence needs its table. Create it once:\n${schema}`;
    throw new UsageError(`${error.message}. ${what}`, { cause: error.cause });
  }
}
