/** The errors that a store throws, and how any other failure of one is classified. */
import { isLockError, LockError, type LockErrorOptions, messageOf } from '../base/errors.ts';

/** These locks, or this store, have been closed. */
export class ClosedError extends LockError {
  constructor(what = 'These locks are closed', options?: LockErrorOptions) {
    super('CLOSED', `${what}.`, options);
  }
}

/** The store failed. */
export class StoreError extends LockError {
  /** The same request may succeed later. */
  readonly retryable: boolean;
  /** `unknown`: it may have been carried out. Repeating is safe, because verbs are idempotent. */
  readonly outcome: 'failed' | 'unknown';

  constructor(
    message: string,
    options: LockErrorOptions & {
      readonly retryable: boolean;
      readonly outcome: 'failed' | 'unknown';
    },
  ) {
    super('STORE', message, options);
    this.retryable = options.retryable;
    this.outcome = options.outcome;
  }
}

/** Nothing was done, and the same request may succeed later. */
export function temporaryFailure(message: string, cause?: unknown): StoreError {
  return new StoreError(message, { cause, retryable: true, outcome: 'failed' });
}

/** Nothing was done, nor would it be if it were asked for again. */
export function permanentFailure(message: string, cause?: unknown): StoreError {
  return new StoreError(message, { cause, retryable: false, outcome: 'failed' });
}

/** The store lacks a trait that this call needs. */
export class UnsupportedError extends LockError {
  readonly trait: string;

  constructor(trait: string, message: string) {
    super('UNSUPPORTED', message);
    this.trait = trait;
  }
}

/**
 * Any failure of a store's verb as a `StoreError`; the outcome of an unknown error is `unknown`.
 *
 * @example
 * import { toStoreError } from 'holdfast/store';
 *
 * const { outcome } = toStoreError(new Error('socket hang up'));
 * console.log(outcome); // unknown
 */
export function toStoreError(error: unknown): StoreError {
  if (isLockError(error, 'STORE')) return error as StoreError;
  const refused = isLockError(error);
  return new StoreError(`The store failed: ${messageOf(error)}`, {
    cause: error,
    retryable: !refused,
    outcome: refused ? 'failed' : 'unknown',
  });
}
