/**
 * Every error that Holdfast throws. They are told apart by `code` and by a registered symbol, never
 * by `instanceof`: a program may load both the ESM and the CommonJS build.
 */
import { isLockError, LockError, type LockErrorOptions, quote } from './lock-error.ts';
import { show } from './show.ts';
import type { GoneReason, Holder, Member } from './store.ts';

export { isLockError, LockError, type LockErrorCode, type LockErrorOptions } from './lock-error.ts';

/** The wait ran out; `cause` is why the store failed, if it could not even be asked. */
export class AcquireTimeoutError extends LockError {
  readonly waitedMs: number;
  /** Claims before this one when last heard; undefined if never known. */
  readonly ahead: number | undefined;
  /** Who held the resource when last seen. */
  readonly holders: readonly Member[];

  constructor(
    resource: string,
    seen: {
      waitedMs: number;
      ahead?: number | undefined;
      holders?: readonly Member[];
      failure?: StoreError | undefined;
    },
  ) {
    const [holder] = seen.holders ?? [];
    const { failure: cause } = seen;
    const why = cause && `; the store fails: ${cause.message.replace(/\.$/, '')}`;
    const who = why ?? (holder ? `; held by ${describeHolder(holder)}` : '');
    const ms = Math.round(seen.waitedMs);
    super('ACQUIRE_TIMEOUT', `Not acquired within ${ms} ms: ${quote(resource)}${who}.`, {
      resource,
      ...(cause && { cause }),
    });
    this.waitedMs = seen.waitedMs;
    this.ahead = seen.ahead;
    this.holders = seen.holders ?? [];
  }
}

/**
 * Why a lease ended early. `expired`: no heartbeat was confirmed in time. `stalled`: this process
 * or machine stood still. `evicted`: taken away by force. `session`: the store ended the session.
 * `store-reset`: the store lost its memory. `max-hold`: held for longer than `maxHold`.
 * `closed`: released already, or `locks.close()` ran
 * out of patience.
 */
export type LossReason =
  | 'expired'
  | 'stalled'
  | 'evicted'
  | 'session'
  | 'store-reset'
  | 'max-hold'
  | 'closed';

const LOSS: Record<LossReason, string> = {
  expired: 'no heartbeat was confirmed in time',
  stalled: 'this process or machine stood still for too long',
  evicted: 'it was taken away by force',
  session: 'the store ended the session',
  'store-reset': 'the store lost its memory',
  'max-hold': 'it was held for longer than maxHold',
  closed: 'it was released already, or locks.close() stopped waiting for it',
};

/** The lease is no longer held; work under it must stop. */
export class LeaseLostError extends LockError {
  readonly reason: LossReason;
  /** What was said about it: the reason that an eviction gave; by `once`, if its work is done. */
  readonly detail: string | undefined;

  constructor(
    resource: string,
    reason: LossReason,
    options: { readonly detail?: string | undefined; readonly cause?: unknown } = {},
  ) {
    const { detail, cause } = options;
    const why = detail ? `${LOSS[reason]}: ${detail}` : LOSS[reason];
    super('LEASE_LOST', `Lease lost on ${quote(resource)}: ${why}.`, { resource, cause });
    this.reason = reason;
    this.detail = detail;
  }
}

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
 * makes. `forged`: they are not signed with the secret. `foreign`: they are of another lock, or of
 * another store.
 */
export type FenceHeadersFault = 'missing' | 'malformed' | 'forged' | 'foreign';

/** A request does not tell of a lease as it should. */
export class FenceHeadersError extends LockError {
  readonly reason: FenceHeadersFault;

  constructor(reason: FenceHeadersFault, message: string) {
    super('FENCE_HEADERS', message);
    this.reason = reason;
  }
}

/** Programs disagree about what kind of lock this name is. */
export class MismatchError extends LockError {
  constructor(resource: string, detail: string) {
    super('MISMATCH', `${quote(resource)} is another kind of lock: ${detail}.`, { resource });
  }
}

/** Optimistic retries are used up. */
export class ConflictError extends LockError {
  /** How often it was tried; 0 if nothing was. */
  readonly attempts: number;

  constructor(message: string, options: LockErrorOptions & { readonly attempts?: number } = {}) {
    super('CONFLICT', message, options);
    this.attempts = options.attempts ?? 0;
  }
}

/** Waiting would never end, because this very context holds what it asks for. */
export class DeadlockError extends LockError {
  constructor(resource: string, detail: string) {
    super('DEADLOCK', `Waiting for ${quote(resource)} would never end: ${detail}.`, { resource });
  }
}

/** The queue of the resource is as long as the store allows. */
export class QueueFullError extends LockError {
  constructor(resource: string, detail: string) {
    super('QUEUE_FULL', `Too many wait for ${quote(resource)}: ${detail}.`, { resource });
  }
}

/** Another process has just failed to refresh this; its log says why. */
export class RefreshError extends LockError {
  /** Who failed, for people. */
  readonly by: Holder;
  /** Until then nobody tries again. */
  readonly retryInMs: number;

  constructor(resource: string, seen: { readonly by: Holder; readonly retryInMs: number }) {
    const { host, pid } = seen.by;
    const who = `${host}, pid ${pid}, has just failed to`;
    const again = `the next try is in ${Math.ceil(seen.retryInMs)} ms`;
    super('REFRESH', `${who} refresh ${quote(resource)}: ${again}.`, { resource });
    this.by = seen.by;
    this.retryInMs = seen.retryInMs;
  }
}

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
  /** `unknown`: it may have happened. Repeating is safe, because verbs are idempotent. */
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

/** The store lacks a trait that this needs. */
export class UnsupportedError extends LockError {
  readonly trait: string;

  constructor(trait: string, message: string) {
    super('UNSUPPORTED', message);
    this.trait = trait;
  }
}

/** A mistake in the calling program; thrown before anything is sent. */
export class UsageError extends LockError {
  constructor(message: string, options?: LockErrorOptions) {
    super('USAGE', message, options);
  }
}

/**
 * Any failure of a store's verb as a `StoreError`; one of unknown nature may have happened.
 *
 * @example
 * import { toStoreError } from 'holdfast';
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

function messageOf(error: unknown): string {
  try {
    if (typeof error === 'string') return error;
    return error instanceof Error ? `${error.message}` : show(error);
  } catch {
    return show(error);
  }
}

/**
 * What a vanished claim means for the lease on it.
 *
 * @example
 * import { lossOf } from 'holdfast';
 *
 * console.log(lossOf('evicted'), lossOf('unknown')); // evicted expired
 */
export function lossOf(why: GoneReason): LossReason {
  return why === 'evicted' || why === 'session' || why === 'store-reset' ? why : 'expired';
}

function describeHolder(member: Member): string {
  const { label, host, pid } = member.holder;
  return `${label ? `${label} on ` : ''}${host}, pid ${pid}`;
}
