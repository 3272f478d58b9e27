/** What the error of a statement means to a store whose statements commit by themselves. */
import { isLockError, UsageError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { describe } from '../causes.ts';
import type { TransactionError } from './errors.ts';

/** @param needs what to tell where the database has no such table or column. */
export function storeErrorOf(error: unknown, needs: string): unknown {
  if (isLockError(error, 'USAGE') && error.cause !== undefined) {
    return new UsageError(`${error.message}. ${needs}`, { cause: error.cause });
  }
  if (!isLockError(error, 'TRANSACTION')) return error;
  const { retryable, outcome } = error as TransactionError;
  return new StoreError(`The database failed (${describe(error)}).`, {
    cause: error,
    retryable,
    outcome,
  });
}
