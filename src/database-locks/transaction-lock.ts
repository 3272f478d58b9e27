/**
 * A name as a lock, until the caller's transaction ends: PostgreSQL's advisory lock of
 * transactions, whose key is a number.
 *
 * Names become numbers of 64 bits by SHA-256. A collision would make two names wait for each other,
 * not let two in; among a million names the chance of one is 1 in 37 million. The server's own
 * `hashtext` has 32 bits, where 77,000 names are enough for an even chance, and may change with its
 * version: two servers of a rolling upgrade would then not exclude each other.
 * The statement that asks for the lock checks the isolation level first (locking.ts).
 * What would break it: programs that disagree about the namespace.
 */
import { createHash } from 'node:crypto';
import { checkName } from '../base/names.ts';
import { readOptions } from '../base/options.ts';
import type { SqlTransaction } from '../clients/sql/clients.ts';
import { type SqlConnection, transactionOf } from '../clients/sql/connection.ts';
import { TransactionError } from '../clients/sql/errors.ts';
import { UnsupportedError } from '../contract/errors.ts';
import {
  type CheckedWait,
  type LockWait,
  mustReadLatest,
  READS_LATEST,
  readWait,
  within,
} from './locking.ts';

export interface TransactionLockOptions {
  /** Admits other sharers, too. Default: false. */
  readonly shared?: boolean;
  /** Default: `block`. */
  readonly wait?: LockWait;
  /** Separates the names of programs that share a database. Default: `holdfast`. */
  readonly namespace?: string;
}

const OPTIONS = ['shared', 'wait', 'namespace'];

/**
 * Locks a name until the transaction ends; there is nothing to release. True, or with
 * `wait: 'skip'` false if another transaction holds it.
 *
 * @example
 * import { transactionLock } from 'holdfast/sql';
 *
 * await sql.begin(async (tx) => {
 *   await transactionLock(tx, 'rebuild-index', { wait: '5s' });
 * });
 *
 * @throws UnsupportedError on MySQL and MariaDB, whose named locks belong to connections.
 * @throws UsageError above READ COMMITTED, before it waits: reads under the lock would be as old as
 *   the transaction's first statement.
 * @throws TransactionError if the lock was not granted: `nowait`, a time-out, a deadlock.
 */
export function transactionLock(
  tx: SqlTransaction,
  name: string,
  options: TransactionLockOptions = {},
): Promise<boolean> {
  const {
    shared = false,
    wait,
    namespace = 'holdfast',
  } = readOptions(options, OPTIONS, 'transactionLock');
  const text = `${checkName(namespace, 'namespace')}\0${checkName(name)}`;
  const key = createHash('sha256').update(text).digest().readBigInt64BE();
  const connection = transactionOf(tx);
  return lock(connection, { key, kind: shared ? '_shared' : '', wait: readWait(wait) });
}

interface TransactionLockTerms {
  readonly key: bigint;
  readonly kind: '_shared' | '';
  readonly wait: CheckedWait;
}

async function lock(
  connection: SqlConnection,
  { key, kind, wait }: TransactionLockTerms,
): Promise<boolean> {
  if (connection.dialect === 'mysql') {
    throw new UnsupportedError(
      'transactionLock',
      'Named locks of MySQL outlive transactions: use rowLock, with a table of names.',
    );
  }
  await connection.mustHaveBegun();
  // As text: a double cannot hold every key.
  const number = 'CAST(CAST(? AS text) AS bigint)';
  const ask = async (verb: '' | 'try_'): Promise<string> => {
    const call = `pg_catalog.pg_${verb}advisory_xact_lock${kind}(${number})`;
    const sql = `SELECT CASE WHEN ${READS_LATEST} THEN CAST(${call} AS text) END AS "got"`;
    const [row] = await connection.rows(sql, [`${key}`]);
    if (typeof row?.got !== 'string') await mustReadLatest(connection);
    return String(row?.got);
  };
  const block = async (): Promise<boolean> => {
    await ask('');
    return true;
  };
  if (wait === 'block') return block();
  if (typeof wait === 'number') return within(connection, wait, block);
  const got = (await ask('try_')) === 'true';
  if (!got && wait === 'nowait') {
    const message = 'Another transaction holds the lock.';
    throw new TransactionError(message, { reason: 'lock-timeout', retryable: true });
  }
  return got;
}
