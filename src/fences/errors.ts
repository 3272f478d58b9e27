import { LockError, quote } from '../base/errors.ts';

/** The guarded resource has already seen a newer token: this holder is too late. */
export class StaleTokenError extends LockError {
  readonly token: bigint;
  /** The token that the resource has seen. */
  readonly seen: bigint;

  constructor(resource: string, token: bigint, seen: bigint, detail = '') {
    super('STALE_TOKEN', `Token ${token} of ${quote(resource)} is stale: ${seen} is in.${detail}`, {
      resource,
    });
    this.token = token;
    this.seen = seen;
  }
}

/**
 * What is wrong with headers. `missing`: one is not there. `malformed`: it is not what a sender
 * makes. `foreign`: they are of another lock.
 */
export type FenceHeadersFault = 'missing' | 'malformed' | 'foreign';

/** A request does not tell of a lease as it should. */
export class FenceHeadersError extends LockError {
  readonly reason: FenceHeadersFault;

  constructor(reason: FenceHeadersFault, message: string) {
    super('FENCE_HEADERS', message);
    this.reason = reason;
  }
}
