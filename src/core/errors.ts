import { LockError, quote } from '../base/errors.ts';
import type { StoreError } from '../contract/errors.ts';
import type { GoneReason, Member } from '../contract/store.ts';

/** The wait ran out. `cause` is the failure of the store, if it did not reply. */
export class AcquireTimeoutError extends LockError {
  readonly waitedMs: number;
  /** Claims before this one at the last report; undefined if never known. */
  readonly ahead: number | undefined;
  /** The holders when last seen. */
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
 * `store-reset`: the store lost its memory. `max-hold`: held for longer than `maxHold`. `closed`:
 * `locks.close()` stopped waiting for the work. `released`: the holder itself released it, and then
 * used it.
 */
export type LossReason =
  | 'expired'
  | 'stalled'
  | 'evicted'
  | 'session'
  | 'store-reset'
  | 'max-hold'
  | 'closed'
  | 'released';

const LOSS: Record<LossReason, string> = {
  expired: 'no heartbeat was confirmed in time',
  stalled: 'this process or machine stood still for too long',
  evicted: 'it was taken away by force',
  session: 'the store ended the session',
  'store-reset': 'the store lost its memory',
  'max-hold': 'it was held for longer than maxHold',
  closed: 'locks.close() stopped waiting for it',
  released: 'it was used after its own release',
};

/** Why and how a hold ended before it was released. */
export interface Loss {
  readonly reason: LossReason;
  /** The reason that an eviction gave. */
  readonly detail?: string | undefined;
}

/** The lease is no longer held; work under it must stop. */
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

/** Waiting would never end, because the running code holds what it asks for. */
export class DeadlockError extends LockError {
  constructor(resource: string, detail: string) {
    super('DEADLOCK', `Waiting for ${quote(resource)} would never end: ${detail}.`, { resource });
  }
}

/** The queue of the resource is as long as the store allows. */
export class QueueFullError extends LockError {
  constructor(resource: string, detail: string) {
    super('QUEUE_FULL', `The queue of ${quote(resource)} is full: ${detail}.`, { resource });
  }
}

/** Why the lease on a vanished claim was lost. */
export function lossOf(why: GoneReason): LossReason {
  return why === 'evicted' || why === 'session' || why === 'store-reset' ? why : 'expired';
}

function describeHolder(member: Member): string {
  const { label, host, pid } = member.holder;
  return `${label ? `${label} on ` : ''}${host}, pid ${pid}`;
}
