export { UsageError } from '../base/errors.ts';
export { UnsupportedError } from '../contract/errors.ts';
export { type ChangeStateOptions, changeState } from './change-state.ts';
export type {
  DrizzleDatabase,
  DrizzleTransaction,
  KyselyDatabase,
  KyselyTransaction,
  MysqlConnection,
  MysqlPool,
  OtherConnection,
  PgConnection,
  PgPool,
  PostgresSql,
  PostgresTransaction,
  SqlDatabase,
  SqlTransaction,
} from './clients.ts';
export { ConflictError, isRetryable, TransactionError, type TransactionFailure } from './errors.ts';
export type { LockWait } from './locking.ts';
export {
  type Change,
  type OptimisticOptions,
  type OptimisticResult,
  optimistic,
} from './optimistic.ts';
export { type RowLockOptions, rowLock } from './row-lock.ts';
export type { Columns, Row, Value } from './sql.ts';
export { type TransactionLockOptions, transactionLock } from './transaction-lock.ts';
