export { UsageError } from '../base/errors.ts';
export type { OtherConnection, SqlDatabase, SqlTransaction } from '../clients/sql/clients.ts';
export { isRetryable, TransactionError } from '../clients/sql/errors.ts';
export type { TransactionFailure } from '../clients/sql/failures.ts';
export type { Columns, Row, Value } from '../clients/sql/sql.ts';
export { UnsupportedError } from '../contract/errors.ts';
export { type ChangeStateOptions, changeState } from './change-state.ts';
export type { LockWait } from './locking.ts';
export {
  type Change,
  ConflictError,
  type OptimisticOptions,
  type OptimisticResult,
  optimistic,
} from './optimistic.ts';
export { type RetryingOptions, retrying } from './retrying.ts';
export { type RowLockOptions, rowLock } from './row-lock.ts';
export { type TransactionLockOptions, transactionLock } from './transaction-lock.ts';
