import { LockError, quote } from '../base/errors.ts';
import type { StoreError } from '../contract/errors.ts';
import type { GoneStatus } from '../contract/store.ts';
import { type PublishedWait, reasonText, type Waiting } from '../store-calls/waiting.ts';

/** The wait ran out; says why, as `Waiting` does. */
export class AcquireTimeoutError extends LockError implements Waiting {
  /** Whole ms. */
  readonly waitedMs: number;
  declare readonly why: Waiting['why'];
  declare readonly holders: Waiting['holders'];
  declare readonly ahead: Waiting['ahead'];
  declare readonly limit: Waiting['limit'];
  declare readonly leftMs: Waiting['leftMs'];
  declare readonly since: Waiting['since'];
  declare readonly cause: Waiting['cause'];
  declare readonly cycle: Waiting['cycle'];

  constructor(resource: string, waitedMs: number, waiting: Waiting) {
    const { cause, ...parts } = waiting;
    const message = `Not acquired within ${waitedMs} ms: ${quote(resource)}${reasonText(waiting)}.`;
    super('ACQUIRE_TIMEOUT', message, { resource, cause });
    this.waitedMs = waitedMs;
    Object.assign(this, parts);
  }
}

/**
 * Why a lease ended early. `expired`: no heartbeat was confirmed in time. `stalled`: this process
 * or machine stood still. `evicted`: taken away by force. `replaced`: a newer request with `ifBusy`
 * has come. `session`: the store ended the session. `store-reset`: the store lost its memory.
 * `max-hold`: held for longer than `maxHold`. `closed`: `locks.close()` stopped waiting for the
 * work. `handed-over` and `released`: the holder itself did so, and then used it. `resumed`, from
 * `locks.resume`: another has resumed it before.
 */
export type LossReason =
  | 'expired'
  | 'stalled'
  | 'evicted'
  | 'replaced'
  | 'session'
  | 'store-reset'
  | 'max-hold'
  | 'closed'
  | 'handed-over'
  | 'resumed'
  | 'released';

/** The reason of an eviction for the sake of a newer request. */
export const REPLACED = 'a newer request has taken its place';

const LOSS: Record<LossReason, string> = {
  expired: 'no heartbeat was confirmed in time',
  stalled: 'this process or machine stood still for too long',
  evicted: 'it was taken away by force',
  replaced: REPLACED,
  session: 'the store ended the session',
  'store-reset': 'the store has lost its data',
  'max-hold': 'it was held for longer than maxHold',
  closed: 'locks.close() stopped waiting for it',
  'handed-over': 'it was handed over to another process',
  resumed: 'another has resumed it already',
  released: 'it was used after its own release',
};

/** Why and how a hold ended before it was released. */
export interface Loss {
  readonly reason: LossReason;
  /** The reason that an eviction gave. */
  readonly detail?: string | undefined;
  /** Why the last heartbeat failed. */
  readonly cause?: StoreError | undefined;
}

/**
 * The lease is no longer held; work under it must stop. `cause` says why the last heartbeat failed,
 * if one did.
 */
export class LeaseLostError extends LockError {
  readonly reason: LossReason;
  /** The reason of an eviction; from `once`, that its work is done but may not be on record. */
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

/** The name is in use as another kind of lock. */
export class MismatchError extends LockError {
  constructor(resource: string, detail: string) {
    super('MISMATCH', `${quote(resource)} is in use as another kind of lock: ${detail}.`, {
      resource,
    });
  }
}

/**
 * Waiting would never end: the running code holds what it asks for or, with `detectDeadlocks`,
 * others hold it and wait for what the running code holds.
 */
export class DeadlockError extends LockError {
  /** The waits that wait for each other, this one first; empty if there is only this one. */
  readonly cycle: readonly PublishedWait[];

  constructor(resource: string, detail: string, cycle: readonly PublishedWait[] = []) {
    super('DEADLOCK', `Waiting for ${quote(resource)} would never end: ${detail}.`, { resource });
    this.cycle = cycle;
  }
}

/** The queue of the resource is as long as the store allows. */
export class QueueFullError extends LockError {
  constructor(resource: string, detail: string) {
    super('QUEUE_FULL', `The queue of ${quote(resource)} is full: ${detail}.`, { resource });
  }
}

/** Why the lease on a vanished claim was lost. */
export function lossOf({ why, detail }: GoneStatus): Loss {
  if (why === 'evicted' && detail === REPLACED) return { reason: 'replaced' };
  return { reason: why in LOSS ? (why as LossReason) : 'expired', detail };
}

export function lostBy(resource: string, status: GoneStatus): LeaseLostError {
  const { reason, detail } = lossOf(status);
  return new LeaseLostError(resource, reason, { detail });
}
