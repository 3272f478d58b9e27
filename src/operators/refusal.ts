import { isLockError, type LockErrorCode } from '../base/errors.ts';
import type { AcquireTimeoutError } from '../core/errors.ts';

/** What a web server replies to a request that a lock has refused. */
export interface Refusal {
  /** 409: another request works on the same thing. 503: too many wait, or no lock is to be had. */
  readonly status: 409 | 503;
  /** For the header `Retry-After`, in seconds. */
  readonly retryAfter: number;
}

const REFUSALS: Partial<Record<LockErrorCode, Refusal>> = {
  ACQUIRE_TIMEOUT: { status: 409, retryAfter: 5 },
  CONFLICT: { status: 409, retryAfter: 1 },
  QUEUE_FULL: { status: 503, retryAfter: 30 },
  CLOSED: { status: 503, retryAfter: 10 },
  STORE: { status: 503, retryAfter: 10 },
};

/**
 * What to reply to a request that failed with this error; undefined if the error tells of more than
 * a refusal, as a `LeaseLostError` does: its work may have been done.
 * @example
 * import { ClosedError, refusalOf } from 'holdfast';
 *
 * const status = refusalOf(new ClosedError())?.status ?? 500; // 503
 */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!isLockError(error)) return undefined;
  const { why, leftMs = 0 } = error as Partial<AcquireTimeoutError>;
  if (why === 'data-loss') return { status: 503, retryAfter: Math.ceil(leftMs / 1000) };
  return REFUSALS[why === 'store-away' ? 'STORE' : error.code];
}
