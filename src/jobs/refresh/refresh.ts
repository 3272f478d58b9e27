/**
 * A value that many use and one renews: an access token, a cached page.
 *
 * Invariant: of all who find the value stale, in all processes, one loads it. It holds because a
 * load runs under a mutex and reads once more before it begins, and what it persists is what the
 * others then read. In one process all who wait share one attempt, so a stampede costs one claim a
 * process. A failure is shared as well: by those who wait here, and, on a store that keeps records,
 * for `retryAfter` with all processes, as what is kept says who failed and not why, for messages
 * may hold secrets. An attempt ends with its lease at the latest: a load that hangs keeps nobody
 * here from what others load then.
 * What would break it: a `load` that does not persist what `read` reads, or a `read` that answers
 * what is stale. A load that stalls for longer than its lease may overlap the next: where that
 * matters, what it persists goes through a fence.
 */

import { type Duration, MAX_DURATION_MS, parseDuration } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { readOptions } from '../../base/options.ts';
import type { Holder } from '../../contract/store.ts';
import type { Engine } from '../../core/engine.ts';
import { AcquireTimeoutError } from '../../core/errors.ts';
import type { Lease } from '../../core/lease.ts';
import { type AcquireOptions, Waiter } from '../../core/waiter.ts';
import { engineOf, type Locks } from '../../locks.ts';
import type { Lock } from '../../primitives/lock.ts';
import type { LockOptions } from '../../primitives/lock-options.ts';
import { checkKey, keyLock } from '../key-lock.ts';
import { keep, recall } from '../records.ts';
import { RefreshError } from './refresh-error.ts';

export interface RefreshOptions<T>
  extends Pick<AcquireOptions, 'wait' | 'signal' | 'label'>,
    Pick<LockOptions, 'ttl' | 'maxHold'> {
  /** The value, or undefined if there is none or it is stale. */
  readonly read: () => T | undefined | PromiseLike<T | undefined>;
  /** Gets a new value, and persists it where `read` finds it. */
  readonly load: (lease: Lease) => T | PromiseLike<T>;
  /**
   * The old value as long as it is usable, or undefined; who finds somebody loading, or that a load
   * has just failed, goes on with it. Default: everybody waits.
   */
  readonly staleWhileRefreshing?: () => T | undefined | PromiseLike<T | undefined>;
  /**
   * After a failure nobody tries again for so long, in any process; default 1 s, at most a minute.
   * 0: the next who waits tries at once.
   */
  readonly retryAfter?: Duration;
}

const REFRESH_OPTIONS = [
  ...['read', 'load', 'staleWhileRefreshing', 'retryAfter'],
  ...['wait', 'signal', 'label', 'ttl', 'maxHold'],
];

/** Longest `retryAfter`, in ms: a slip of the keyboard must not stop everybody for hours. */
const MAX_RETRY_AFTER_MS = 60_000;

/** What is kept of a failure. */
interface Failure {
  readonly failed: Holder;
}

interface RefreshTerms<T> {
  readonly read: () => Promise<T | undefined>;
  readonly old: (() => Promise<T | undefined>) | undefined;
  readonly load: (lease: Lease) => Promise<T>;
  readonly retryAfterMs: number;
  readonly acquire: AcquireOptions;
}

/** @throws UsageError */
function readRefresh<T>(options: RefreshOptions<T>): RefreshTerms<T> {
  const { read, load, staleWhileRefreshing: old, retryAfter = 1000 } = options;
  const { wait, signal, label } = options;
  for (const [what, each] of Object.entries({
    read,
    load,
    staleWhileRefreshing: old === undefined ? read : old,
  })) {
    if (typeof each !== 'function') throw new UsageError(`${what} must be a function.`);
  }
  const retryAfterMs = parseDuration(retryAfter, 'retryAfter');
  if (retryAfterMs > MAX_RETRY_AFTER_MS) {
    throw new UsageError(`retryAfter must be at most ${MAX_RETRY_AFTER_MS} ms.`);
  }
  return {
    read: async () => read(),
    old: old && (async () => old()),
    load: async (lease) => load(lease),
    retryAfterMs,
    acquire: {
      ...(wait !== undefined && { wait }),
      ...(signal !== undefined && { signal }),
      ...(label !== undefined && { label }),
    },
  };
}

const refreshesOf = new WeakMap<Engine, Refreshes>();

/**
 * A value that many use and one renews: of all who find it stale, in all processes, one loads it,
 * and the others wait, or go on with the old one while it is usable. In one process the first to
 * ask loads for all; those who wait share its failure, too.
 *
 * @example
 * import { refresh } from 'holdfast/refresh';
 *
 * const read = async () => fresh(await cache.get('token'));
 * const token = await refresh(locks, 'access-token', { read, load: fetchToken });
 *
 * @throws UsageError synchronously; as rejections what the functions throw and what `run` of a
 *   mutex does, and RefreshError if another process has just failed.
 */
export function refresh<T>(locks: Locks, key: string, options: RefreshOptions<T>): Promise<T> {
  const engine = engineOf(locks);
  const { ttl, maxHold, ...rest } = readOptions(options, REFRESH_OPTIONS, 'refresh');
  const terms = readRefresh<T>(rest);
  const lock = keyLock(locks, `refresh:${checkKey(key)}`, { ttl, maxHold });
  lock.read(terms.acquire);
  const refreshes = refreshesOf.get(engine) ?? new Refreshes(engine);
  refreshesOf.set(engine, refreshes);
  return refreshes.refresh(lock, terms);
}

/** All refreshes of one `Locks`. */
class Refreshes {
  readonly #engine: Engine;
  readonly #flights = new Map<string, Flight<unknown>>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async refresh<T>(lock: Lock, terms: RefreshTerms<T>): Promise<T> {
    // Whoever loads would wait for itself.
    lock.checkStranger();
    const { signal } = terms.acquire;
    signal?.throwIfAborted();
    const fresh = await terms.read();
    if (fresh !== undefined) return fresh;
    const usable = this.#flights.has(lock.resource) ? await terms.old?.() : undefined;
    if (usable !== undefined) return usable;
    signal?.throwIfAborted();
    this.#engine.checkOpen();
    const flight = this.#flights.get(lock.resource) as Flight<T> | undefined;
    return (flight ?? this.#begin(lock, terms)).join(terms.acquire);
  }

  #begin<T>(lock: Lock, terms: RefreshTerms<T>): Flight<T> {
    const { resource } = lock;
    const over = (): void => {
      if (this.#flights.get(resource) === flight) this.#flights.delete(resource);
    };
    const flight: Flight<T> = new Flight(this.#engine, { lock, terms, over });
    this.#flights.set(resource, flight);
    return flight;
  }
}

interface FlightParts<T> {
  readonly lock: Lock;
  readonly terms: RefreshTerms<T>;
  /** It takes nobody on any more; may be told twice. */
  readonly over: () => void;
}

/** One attempt, for all in this process who wait for it. */
class Flight<T> {
  readonly #engine: Engine;
  readonly #parts: FlightParts<T>;
  readonly #value: Promise<T>;
  readonly #unwanted = new AbortController();
  #end: (error: unknown) => void = () => {};
  #passengers = 0;

  constructor(engine: Engine, parts: FlightParts<T>) {
    this.#engine = engine;
    this.#parts = parts;
    this.#value = new Promise((resolve, reject) => {
      this.#end = reject;
      this.#fly().then(resolve, reject);
    });
    this.#value.then(parts.over, parts.over);
  }

  /** Waits as long as these options say, whatever the others' say. */
  join({ wait = this.#engine.services.settings.waitMs, signal }: AcquireOptions): Promise<T> {
    const { resource } = this.#parts.lock;
    this.#passengers++;
    return new Promise((resolve, reject) => {
      const task: Waiter<T> = new Waiter<T>(this.#engine.services, {
        subject: {
          ...{ resource, kind: 'mutex', outlook: () => ({}), leave: () => this.#leave() },
          timedOut: (waitedMs) => new AcquireTimeoutError(resource, { waitedMs }),
        },
        options: { ...(wait !== undefined && { wait }), ...(signal !== undefined && { signal }) },
        ...{ resolve, reject },
      });
      this.#value.then(
        (value) => task.resolve(value),
        (error: unknown) => task.reject(error),
      );
    });
  }

  /** When nobody waits any more, it does not either; but who loads already goes on. */
  #leave(): void {
    this.#passengers--;
    if (this.#passengers > 0) return;
    this.#parts.over();
    this.#unwanted.abort();
  }

  async #fly(): Promise<T> {
    const { lock, terms } = this.#parts;
    const { label } = terms.acquire;
    const options = { signal: this.#unwanted.signal, ...(label !== undefined && { label }) };
    const attempt = (lease: Lease): Promise<T> => this.#load(lease);
    if (terms.old) {
      const tried = await lock.tryRun(options, attempt);
      if (tried.acquired) return tried.value;
      const usable = await terms.old();
      if (usable !== undefined) return usable;
    }
    // Without end: each of those who wait has a limit of its own.
    return lock.run({ ...options, wait: MAX_DURATION_MS }, attempt);
  }

  async #load(lease: Lease): Promise<T> {
    const { read, load, old, retryAfterMs } = this.#parts.terms;
    lease.assertHeld();
    lease.signal.addEventListener('abort', () => this.#end(lease.loss));
    const fresh = await read();
    if (fresh !== undefined) return fresh;
    const shares = retryAfterMs > 0 && this.#engine.services.calls.store.traits.records;
    const failure = shares ? await this.#failureBefore(lease) : undefined;
    if (failure) {
      const usable = await old?.();
      if (usable !== undefined) return usable;
      throw failure;
    }
    try {
      return await load(lease);
    } catch (error) {
      if (shares && lease.held) await this.#noteFailure(lease);
      throw error;
    }
  }

  async #failureBefore({ resource }: Lease): Promise<RefreshError | undefined> {
    const kept = await recall<Failure>(this.#engine, resource);
    return kept && new RefreshError(resource, { by: kept.note.failed, retryInMs: kept.leftMs });
  }

  /** That others hear of a failure is not worth hiding what failed. */
  async #noteFailure(lease: Lease): Promise<void> {
    const { label: _, ...failed } = lease.live.claim.holder;
    const note: Failure = { failed };
    const ms = this.#parts.terms.retryAfterMs;
    await keep(this.#engine, lease, { note, ms }).catch(() => {});
  }
}
