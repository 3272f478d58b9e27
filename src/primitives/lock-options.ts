/** The options of locks and of one lock, checked, also against those of the store. */
import { type Clock, checkClock } from '../base/clock.ts';
import { type Duration, duration, positive } from '../base/duration.ts';
import { UsageError } from '../base/errors.ts';
import { checkName, MAX_PREFIX_BYTES } from '../base/names.ts';
import { type Checked, type Checks, flag, text, wholeNumber } from '../base/options.ts';
import { type Kind, MAX_PERMITS, OPTIONAL_VERBS, type Store } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import type { Settings, Spec } from '../core/services.ts';

export interface LocksOptions {
  /** Put before every name; at most 128 bytes. */
  readonly prefix?: string;
  /** Shown to people who inspect the queue. */
  readonly label?: string;
  /**
   * How long a claim lives without a heartbeat, and so how long others wait for a dead holder;
   * default 10 s, or the store's `maxTtl` if that is less.
   */
  readonly ttl?: Duration;
  /** Default for `wait`; default none: wait until granted or aborted. */
  readonly wait?: Duration;
  /**
   * Longest ttl and minHold; default that of the store, or 30 s, or `ttl` if that is longer. Use
   * the same in all programs on a store: one that lost its memory grants nothing for this long.
   */
  readonly maxTtl?: Duration;
  /** How much faster the store's clock may run than this one; default 0.01, 1 %, as in Redlock. */
  readonly drift?: number;
  /** Time and randomness, for tests. */
  readonly clock?: Clock;
}

export interface LockOptions {
  /** Default that of `createLocks`. */
  readonly ttl?: Duration | undefined;
  /**
   * Strict order over all tasks of all processes. Default false: tasks of one process pass the lock
   * among themselves, in bounded batches while others wait, which is a hundred times faster.
   */
  readonly fair?: boolean | undefined;
  /** A nested `run` in a holder's context enters at once; default false: it rejects. */
  readonly reentrant?: boolean | undefined;
  /**
   * The lock stays taken for at least this long from the grant, even if the process is gone;
   * default 0. For a semaphore: no more than `limit` permits are granted in any such time.
   */
  readonly minHold?: Duration | undefined;
  /** A living process gives up the lease after this long; default never. */
  readonly maxHold?: Duration | undefined;
  /** Default true. False: the lease ends within a ttl, unless `lease.renew()` is called. */
  readonly heartbeat?: boolean | undefined;
}

export interface SemaphoreOptions extends LockOptions {
  /** How many permits there are. */
  readonly limit: number;
}

/** `maxTtl` if neither the locks nor the store set one. */
export const MAX_TTL_MS = 30_000;

/** Margin in ms that every deadline keeps: timers fire late, servers round. */
const MARGIN_MS = 20;

export const LOCK: Checks<LockOptions, 'ttl' | 'maxHold'> = {
  ttl: duration(),
  fair: flag(),
  reentrant: flag(),
  minHold: duration(0),
  maxHold: positive(),
  heartbeat: flag(true),
};

export const SEMAPHORE: Checks<SemaphoreOptions, 'ttl' | 'maxHold'> = {
  ...LOCK,
  limit: wholeNumber(1, MAX_PERMITS),
};

export const LOCKS: Checks<LocksOptions, 'label' | 'ttl' | 'wait' | 'maxTtl'> = {
  prefix: (given: string = '', name: string): string =>
    given === '' ? given : checkName(given, name, MAX_PREFIX_BYTES),
  label: text,
  ttl: duration(),
  wait: duration(),
  maxTtl: duration(),
  drift: (given: number = 0.01, name: string): number => {
    if (typeof given === 'number' && given >= 0 && given < 0.5) return given;
    throw new UsageError(`${name} must be a number from 0 to 0.5.`);
  },
  clock: checkClock,
};

/** The verbs of every store, and the members that it may lack. */
const VERBS = ['claim', 'renew', 'release', 'inspect'] as const;
const MORE_VERBS = [...OPTIONAL_VERBS, 'close', 'partOf'] as const;

export function checkStore(store: Store): void {
  const { ttlStepMs = 1, reach } = store?.traits ?? {};
  const { maxTtlMs = MAX_TTL_MS } = store ?? {};
  const whole =
    VERBS.every((verb) => typeof store?.[verb] === 'function') &&
    MORE_VERBS.every((verb) => ['function', 'undefined'].includes(typeof store?.[verb])) &&
    typeof reach === 'string' &&
    ttlStepMs > 0 &&
    maxTtlMs > 0;
  if (whole) return;
  const url = typeof store === 'string' ? '; for a URL call connect(url)' : '';
  throw new UsageError(`createLocks takes a store, such as sqliteStore(file)${url}.`);
}

export function settingsOf(options: Checked<typeof LOCKS>, store: Store): Settings {
  const { maxTtlMs: most = MAX_TTL_MS } = store;
  const { prefix, label, ttl: ttlMs = Math.min(10_000, most), wait: waitMs, drift } = options;
  const maxTtlMs = maxTtlOf(options, store);
  return { prefix, label, ttlMs, waitMs, maxTtlMs, driftRate: drift, marginMs: MARGIN_MS };
}

/** Where no store counts on it, a program that asks for a longer TTL means it. */
function maxTtlOf({ ttl = 0, maxTtl: ms }: Checked<typeof LOCKS>, store: Store): number {
  if (ms === undefined) return store.maxTtlMs ?? Math.max(MAX_TTL_MS, ttl);
  return atMost(store.maxTtlMs ?? ms, store, { ms, what: 'maxTtl' });
}

/** @throws UsageError if it is more than the longest TTL, which the store or these locks set. */
function atMost(maxTtlMs: number, store: Store, { ms, what }: { ms: number; what: string }) {
  if (ms <= maxTtlMs) return ms;
  const where = maxTtlMs === store.maxTtlMs ? `the ${store.name} store` : 'createLocks';
  const raise = `raise the option maxTtl of ${where} for all users of the store`;
  throw new UsageError(`${what} is ${ms} ms, more than maxTtl, ${maxTtlMs} ms: ${raise}.`);
}

export type CheckedLock = Checked<typeof LOCK> & { readonly kind: Kind; readonly limit: number };

/** Below this, in ms, the margin and a busy machine would use up the lease. */
const MIN_TTL_MS = 100;

/** @throws UsageError */
export function specOf(engine: Engine, resource: string, options: CheckedLock): Spec {
  const { kind, fair, heartbeat, ttl, minHold, maxHold: maxHoldMs, ...rest } = options;
  const { calls, settings } = engine.services;
  const ttlMs = ttlOf(engine, ttl);
  const minHoldMs = atMost(settings.maxTtlMs, calls.store, { ms: minHold, what: 'minHold' });
  if (maxHoldMs !== undefined && maxHoldMs < minHoldMs) {
    throw new UsageError('maxHold must not be less than minHold.');
  }
  // Without heartbeats, or with minHold, a lease lasts as long as its own claim.
  const whole = heartbeat && minHoldMs === 0;
  const shared = !fair && whole && (kind === 'mutex' || kind === 'write');
  const key = shared ? `${kind} ${ttlMs} ${maxHoldMs ?? ''} ${resource}` : undefined;
  const permits = kind === 'write' ? rest.limit : 1;
  return { ...rest, resource, kind, permits, ttlMs, minHoldMs, maxHoldMs, heartbeat, key };
}

/** A ttl in ms. @throws UsageError */
export function ttlOf(engine: Engine, ttl: number | undefined): number {
  const { calls, settings } = engine.services;
  const ttlMs = ttl ?? settings.ttlMs;
  const least = Math.max(MIN_TTL_MS, calls.store.traits.ttlStepMs ?? 1);
  if (ttlMs < least) throw new UsageError(`ttl must be at least ${least} ms, not ${ttlMs}.`);
  return atMost(settings.maxTtlMs, calls.store, { ms: ttlMs, what: 'ttl' });
}
