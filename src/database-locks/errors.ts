import { LockError, type LockErrorOptions } from '../base/errors.ts';

/** Optimistic retries are used up. */
export class ConflictError extends LockError {
  /** How often it was tried; 0 if nothing was. */
  readonly attempts: number;

  constructor(message: string, options: LockErrorOptions & { readonly attempts?: number } = {}) {
    super('CONFLICT', message, options);
    this.attempts = options.attempts ?? 0;
  }
}

/**
 * Why a statement failed. `deadlock`: the database ended one of those who waited for each other.
 * `lock-timeout`: somebody else holds it for longer than was to be waited. `serialization`:
 * somebody else changed it after this transaction began to read. `aborted`: an earlier statement
 * of the transaction had failed. `cancelled`: by a time limit of the database or an operator.
 * `connection`: it broke. `missing`: there is no such row. `refused`: anything else.
 */
export type TransactionFailure =
  | 'deadlock'
  | 'lock-timeout'
  | 'serialization'
  | 'aborted'
  | 'cancelled'
  | 'connection'
  | 'missing'
  | 'refused';

/** A statement on the caller's own connection failed; in a transaction: roll it back. */
export class TransactionError extends LockError {
  readonly reason: TransactionFailure;
  /** The whole transaction may succeed when it is run again. */
  readonly retryable: boolean;
  /** `unknown`: outside of a transaction, it may have been carried out. */
  readonly outcome: 'failed' | 'unknown';

  constructor(
    message: string,
    options: LockErrorOptions & {
      readonly reason: TransactionFailure;
      readonly retryable: boolean;
      readonly outcome?: 'failed' | 'unknown';
    },
  ) {
    super('TRANSACTION', message, options);
    this.reason = options.reason;
    this.retryable = options.retryable;
    this.outcome = options.outcome ?? 'failed';
  }
}
