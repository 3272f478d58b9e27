import { type Clock, checkClock } from '../base/clock.ts';
import { type Duration, parseDuration } from '../base/duration.ts';
import { UsageError } from '../base/errors.ts';
import { checkName, MAX_PREFIX_BYTES } from '../base/names.ts';
import { reading, readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import { MAX_PERMITS, OPTIONAL_VERBS, type Store } from '../contract/store.ts';
import type { Settings } from '../core/services.ts';

export interface LocksOptions {
  /** Put before every name; at most 128 bytes. */
  readonly prefix?: string;
  /** Shown to people who look at the queue. */
  readonly label?: string;
  /**
   * How long a claim lives without a heartbeat, and so how long others wait for a dead holder;
   * default 10 s, or the store's `maxTtl` if that is less.
   */
  readonly ttl?: Duration;
  /** Default for `wait`; default none: wait until granted or aborted. */
  readonly wait?: Duration;
  /**
   * Longest ttl and minHold; default that of the store, or 30 s. Use the same in all programs on a
   * store: a store that lost its memory grants nothing for so long.
   */
  readonly maxTtl?: Duration;
  /** How much faster the store's clock may run than this one; default 0.01, 1 %, as in Redlock. */
  readonly drift?: number;
  /** On SIGINT and SIGTERM, `close()` and then let the signal take effect; default false. */
  readonly releaseOnSignal?: boolean;
  /** Time and chance, for tests. */
  readonly clock?: Clock;
}

export interface LockOptions {
  /** Default that of `createLocks`. */
  readonly ttl?: Duration;
  /**
   * Strict order over all tasks of all processes. Default false: tasks of one process hand the lock
   * on among themselves, in bounded batches while others wait, which is a hundred times faster.
   */
  readonly fair?: boolean;
  /** A nested `run` in the context of a holder enters at once; default false: it rejects. */
  readonly reentrant?: boolean;
  /** The lock stays taken for at least this long, even if the process is gone; default 0. */
  readonly minHold?: Duration;
  /** A living process gives up the lease after this long; default never. */
  readonly maxHold?: Duration;
  /** Default true. False: the lease ends within a ttl, unless `lease.renew()` is called. */
  readonly heartbeat?: boolean;
}

export interface SemaphoreOptions extends LockOptions {
  /** How many permits there are. */
  readonly limit: number;
}

/**
 * @example
 * const [holder] = (await locks.inspect('report')).holders;
 * if (holder) await locks.evict('report', { token: holder.number, reason: 'it hangs' });
 */
export interface EvictOptions {
  /** The token of the lease, or of the waiter, which is its `number` in `inspect`. */
  readonly token: bigint;
  /** Becomes the `detail` of the holder's error. At most 1,024 bytes. */
  readonly reason: string;
  /**
   * Ends the claim at once; only a fence protects then. Default false: it gets no more heartbeats
   * and ends with its TTL, so that its holder stops in time.
   */
  readonly now?: boolean;
}

/** `maxTtl` if neither the locks nor the store set one. */
const MAX_TTL_MS = 30_000;

/** Margin in ms that every deadline keeps: timers fire late, servers round. */
const MARGIN_MS = 20;

/** Longest reason of an eviction: a few sentences. */
const MAX_REASON_BYTES = 1024;

export const LOCK_OPTIONS: readonly string[] = [
  'ttl',
  'fair',
  'reentrant',
  'minHold',
  'maxHold',
  'heartbeat',
];
export const SEMAPHORE_OPTIONS: readonly string[] = [...LOCK_OPTIONS, 'limit'];
export const LOCKS_OPTIONS: readonly string[] = [
  ...['prefix', 'label', 'ttl', 'wait', 'maxTtl', 'drift', 'releaseOnSignal', 'clock'],
];

const EVICT_OPTIONS = ['token', 'reason', 'now'];

export function checkLimit(limit: number, what: string): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PERMITS) return limit;
  throw new UsageError(
    `${what} must be a whole number from 1 to ${MAX_PERMITS}, not ${show(limit)}.`,
  );
}

/** The verbs of every store, and those of some. */
const VERBS = ['claim', 'renew', 'release', 'inspect'] as const;
const MORE_VERBS = [...OPTIONAL_VERBS, 'close', 'partOf'] as const;

export function checkStore(store: Store): void {
  const whole = reading('The store', () => {
    const { ttlStepMs } = store?.traits ?? {};
    const { maxTtlMs = MAX_TTL_MS } = store ?? {};
    return (
      VERBS.every((verb) => typeof store?.[verb] === 'function') &&
      MORE_VERBS.every((verb) => ['function', 'undefined'].includes(typeof store?.[verb])) &&
      typeof ttlStepMs === 'number' &&
      ttlStepMs > 0 &&
      typeof maxTtlMs === 'number' &&
      maxTtlMs > 0
    );
  });
  if (!whole) throw new UsageError('createLocks takes a store, such as sqliteStore(file).');
}

export function checkLocks(options: LocksOptions, store: Store): Settings {
  const { maxTtlMs: most = MAX_TTL_MS } = store;
  const { prefix = '', label, ttl = Math.min(10_000, most), wait, drift = 0.01 } = options;
  const { clock, releaseOnSignal = false } = options;
  if (prefix !== '') checkName(prefix, 'prefix', MAX_PREFIX_BYTES);
  if (label !== undefined && typeof label !== 'string') throw new UsageError('label must be text.');
  if (typeof drift !== 'number' || !(drift >= 0 && drift < 0.5)) {
    throw new UsageError('drift must be a number from 0 to 0.5.');
  }
  if (clock !== undefined) checkClock(clock);
  if (typeof releaseOnSignal !== 'boolean') {
    throw new UsageError('releaseOnSignal must be true or false.');
  }
  return {
    prefix,
    label,
    ttlMs: parseDuration(ttl, 'ttl'),
    waitMs: wait === undefined ? undefined : parseDuration(wait, 'wait'),
    maxTtlMs: maxTtlOf(options, store),
    driftRate: drift,
    marginMs: MARGIN_MS,
  };
}

function maxTtlOf({ maxTtl }: LocksOptions, { maxTtlMs, name }: Store): number {
  if (maxTtl === undefined) return maxTtlMs ?? MAX_TTL_MS;
  const ms = parseDuration(maxTtl, 'maxTtl');
  if (maxTtlMs === undefined || ms <= maxTtlMs) return ms;
  const raise = `raise the option maxTtl of the ${name} store for all its users`;
  throw new UsageError(`maxTtl is ${ms} ms, more than the store's, ${maxTtlMs} ms: ${raise}.`);
}

export function readEvict(options: EvictOptions): Required<EvictOptions> {
  const { token, reason, now = false } = readOptions(options, EVICT_OPTIONS, 'evict');
  if (typeof token !== 'bigint') throw new UsageError('token must be a bigint.');
  checkName(reason, 'reason', MAX_REASON_BYTES);
  if (typeof now !== 'boolean') throw new UsageError('now must be true or false.');
  return { token, reason, now };
}
