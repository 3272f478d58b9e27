/**
 * Why a lock is not granted: the same structure in errors, results, events and on the command line.
 *
 * It is put together from what is known without asking (the store's last reply about the claim, or
 * its last failure) and, where there was time for a look, from the queue. It is for people and
 * metrics: no grant depends on it.
 */
import { hostname } from 'node:os';
import type { StoreError } from '../contract/errors.ts';
import type { Holder, Kind, Member, Queue, WaitingStatus } from '../contract/store.ts';

/**
 * `held`: the holders leave no room. `queue`: there is room, or there are no holders any more, and
 * earlier waiters go first. `limit`: another program asks for a smaller limit, which applies.
 * `data-loss`: the store has lost its memory and grants nothing until all its earlier grants have
 * ended. `store-away`: the store fails.
 */
export type WaitReason = 'held' | 'queue' | 'limit' | 'data-loss' | 'store-away';

/**
 * Why a lock is not granted.
 *
 * @example
 * const result = await locks.mutex('report').tryRun(({ signal }) => buildReport(signal));
 * if (!result.acquired && result.why === 'data-loss') console.warn('skipped:', result.leftMs);
 */
export interface Waiting {
  readonly why: WaitReason;
  /** Those of the last look; empty without one, or if the store did not reply soon. */
  readonly holders: readonly Member[];
  /** Claims before this one, holders included, at the last report; undefined if never known. */
  readonly ahead: number | undefined;
  /** The limit in force, if it is smaller than that of the caller. */
  readonly limit: number | undefined;
  /** After a loss of data: the store grants nothing for this long, in ms. */
  readonly leftMs: number | undefined;
  /** When the wait began, in ms since the epoch; of a try or a look, when it was made. */
  readonly since: number;
  /** Why the last request to the store failed. */
  readonly cause: StoreError | undefined;
  /** The deadlock that it was in when it ran out; only with `detectDeadlocks`. */
  readonly cycle?: readonly PublishedWait[] | undefined;
}

/** What a task holds while it waits. */
export interface WaitingHold {
  /** The full name, prefix included. */
  readonly resource: string;
  readonly token: bigint;
  /** The part of the limit that it takes; all of it for a mutex or a writer. */
  readonly permits: number;
}

/** A wait of a task that holds other locks, as `detectDeadlocks` publishes it in the store. */
export interface PublishedWait {
  readonly id: string;
  /** The full name of what it waits for. */
  readonly resource: string;
  readonly kind: Kind;
  /** The part of the limit that it asks for; all of it for a mutex or a writer. */
  readonly permits: number;
  readonly limit: number;
  /** The process that waits, with its label; `since` is when the wait began. */
  readonly holder: Holder;
  readonly holds: readonly WaitingHold[];
  /** What happens to the youngest of a cycle. */
  readonly onDeadlock: 'event' | 'reject';
}

/** What a claim knows about its wait without asking. */
export interface Outlook {
  /** The store's last reply. */
  readonly status?: WaitingStatus | undefined;
  /** Why the last request to the store failed. */
  readonly failure?: StoreError | undefined;
}

interface KnownWait extends Outlook {
  /** What a look has found, or the refusal of a try. */
  readonly queue?: Partial<Queue> | undefined;
  /** The caller's limit, where the whole queue was before it. */
  readonly limit?: number | undefined;
  readonly since?: number | undefined;
}

export function waitingOf({ status, failure: cause, queue = {}, ...known }: KnownWait): Waiting {
  const { limit: own = 0, since = Date.now() } = known;
  const { holders, waiters = [], limit: inForce = own, quarantineMs } = queue;
  const leftMs = quarantineMs ?? (status?.why === 'data-loss' ? status.retryInMs : undefined);
  const limit = status?.limit ?? (inForce < own ? inForce : undefined);
  const ahead = status?.ahead;
  const room = holders?.reduce((left, { permits }) => left - permits, inForce) ?? 0;
  const held = holders?.length ?? 1;
  const before = ahead === undefined ? waiters.length : ahead - held;
  let why: WaitReason = held === 0 || (before > 0 && room > 0) ? 'queue' : 'held';
  if (limit !== undefined) why = 'limit';
  if (leftMs !== undefined) why = 'data-loss';
  if (cause) why = 'store-away';
  return { why, holders: holders ?? [], ahead, limit, leftMs, since, cause };
}

/** For messages; empty if no more is known than that it is not granted. */
export function reasonText({ why, cause, leftMs = 0, limit, holders: [first] }: Waiting): string {
  if (why === 'store-away') return `; the store fails: ${cause?.message.replace(/\.$/, '')}`;
  if (why === 'data-loss') {
    const left = (leftMs / 1000).toFixed(1);
    return `; the store is new or has lost its data, and grants nothing for another ${left} s`;
  }
  const smaller = limit === undefined ? '' : `; the limit in force is ${limit}`;
  if (!first) return smaller;
  const { label, host, pid, since } = first.holder;
  // In a container each process in turn may have the same host, and the pid 1.
  const own = host === hostname() && pid === process.pid && since >= performance.timeOrigin;
  const where = `${host}, pid ${pid}${own ? ' (this process)' : ''}`;
  return `${smaller}; held by ${label ? `${label} on ` : ''}${where}`;
}
