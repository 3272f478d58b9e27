/**
 * Exit statuses. The numbers are those of sysexits.h and of shells, and 79, which neither of them
 * uses, for a lease that was lost under the running command.
 */
import { isLockError, type LockErrorCode } from '../../base/errors.ts';

export const STATUS = {
  none: 1,
  usage: 64,
  unreachable: 69,
  bug: 70,
  output: 74,
  notAcquired: 75,
  refused: 77,
  configuration: 78,
  lost: 79,
  notExecutable: 126,
  notFound: 127,
} as const;

/** Ends the process with a status and one line. */
export class ExitError extends Error {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** For errors before a lock is held; `hold` returns the status of what happens under it. */
const BY_CODE: Readonly<Record<LockErrorCode, number>> = {
  USAGE: STATUS.usage,
  STORE: STATUS.unreachable,
  ACQUIRE_TIMEOUT: STATUS.notAcquired,
  QUEUE_FULL: STATUS.notAcquired,
  REFRESH: STATUS.notAcquired,
  CONFLICT: STATUS.notAcquired,
  LEASE_LOST: STATUS.notAcquired,
  CLOSED: STATUS.notAcquired,
  TRANSACTION: STATUS.unreachable,
  MISMATCH: STATUS.refused,
  UNSUPPORTED: STATUS.refused,
  DEADLOCK: STATUS.refused,
  STALE_TOKEN: STATUS.refused,
  FENCE_HEADERS: STATUS.refused,
};

/** Codes of Node for a package that is missing, or that does not fit the machine. */
const NOT_LOADED = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED']);

export function statusOf(error: unknown): number {
  if (error instanceof ExitError) return error.status;
  if (!isLockError(error)) return STATUS.bug;
  // An unreachable store has not refused.
  if (error.code === 'ACQUIRE_TIMEOUT' && isLockError(error.cause, 'STORE')) {
    return statusOf(error.cause);
  }
  // No package that could open this store is installed.
  const { trait } = error as { readonly trait?: string };
  if (error.code === 'UNSUPPORTED' && trait === 'store') return STATUS.configuration;
  if (error.code !== 'STORE') return BY_CODE[error.code];
  const { retryable } = error as { readonly retryable?: boolean };
  const { code } = (error.cause ?? {}) as { readonly code?: unknown };
  if (typeof code === 'string' && NOT_LOADED.has(code)) return STATUS.configuration;
  // A failure of the store has a cause; a refusal by the store itself has none.
  return error.cause === undefined && !retryable ? STATUS.refused : STATUS.unreachable;
}
