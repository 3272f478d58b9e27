import { LockError, quote } from '../base/errors.ts';

/** The guarded resource has already seen a newer token: this holder is too late. */
export class StaleTokenError extends LockError {
  readonly token: bigint;
  /** The token that the resource has seen. */
  readonly seen: bigint;

  constructor(resource: string, token: bigint, seen: bigint, detail = '') {
    super(
      'STALE_TOKEN',
      `Token ${token} of ${quote(resource)} is stale: the fence is at ${seen}.${detail}`,
      { resource },
    );
    this.token = token;
    this.seen = seen;
  }
}

/**
 * What is wrong with headers. `missing`: one is not there. `malformed`: no sender writes it so.
 * `foreign`: they are of another lock.
 */
export type FenceHeadersFault = 'missing' | 'malformed' | 'foreign';

/** The headers of a request do not describe the expected lease. */
export class FenceHeadersError extends LockError {
  readonly reason: FenceHeadersFault;

  constructor(reason: FenceHeadersFault, message: string) {
    super('FENCE_HEADERS', message);
    this.reason = reason;
  }
}
