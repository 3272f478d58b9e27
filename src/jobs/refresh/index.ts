/**
 * A value that many callers use and one renews: an access token, a cached page.
 *
 * Invariant: of all callers that find the value stale, in all processes, one loads it. It holds
 * because a load runs under a mutex and reads once more before it begins, and the others then read
 * what it persists. In one process all waiters share one attempt, so a stampede costs one claim a
 * process. They share a failure as well, and, on a store that keeps records, so do all processes
 * for `retryAfter`: the record names the process that failed but not the error, because messages
 * may hold secrets. An attempt ends with its lease at the latest: after a load that hangs, this
 * process can still use what others load.
 * What would break it: a `load` that does not persist what `read` reads, or a `read` that returns a
 * stale value. A load that stalls for longer than its lease may overlap the next: where that
 * matters, persist through a fence.
 */
import { type Duration, MAX_DURATION_MS, parseDuration } from '../../base/duration.ts';
import { LockError, quote, UsageError } from '../../base/errors.ts';
import { callable, checkOptions } from '../../base/options.ts';
import type { Holder } from '../../contract/store.ts';
import { ACQUISITION, type AcquireOptions } from '../../core/acquire-options.ts';
import type { Engine } from '../../core/engine.ts';
import type { Lease } from '../../core/lease.ts';
import { Waiter } from '../../core/waiter.ts';
import type { Locks } from '../../locks.ts';
import { holding } from '../../operators/deadlocks/holding.ts';
import type { Lock } from '../../primitives/lock.ts';
import { LOCK, type LockOptions } from '../../primitives/lock-options.ts';
import { checkKey, keep, keyLock, recall } from '../records.ts';

/** Clients of caches return null for a missing key. */
type Maybe<T> = T | undefined | null;

export interface RefreshOptions<T>
  extends Pick<AcquireOptions, 'wait' | 'signal' | 'label'>,
    Pick<LockOptions, 'ttl' | 'maxHold'> {
  /** The value; undefined or null if there is none, or it is stale. */
  readonly read: () => Maybe<T> | PromiseLike<Maybe<T>>;
  /** Gets a new value, and persists it where `read` finds it. */
  readonly load: (lease: Lease) => T | PromiseLike<T>;
  /**
   * Returns a stale value that may still be served while another caller loads, or after a load
   * failed; undefined or null if there is none. Default: all callers wait.
   */
  readonly staleWhileRefreshing?: () => Maybe<T> | PromiseLike<Maybe<T>>;
  /**
   * After a failure no process tries again for this long; default 1 s, at most a minute. 0: the
   * next waiter tries at once.
   */
  readonly retryAfter?: Duration;
}

/** Another process has just failed to refresh this; its log says why. */
export class RefreshError extends LockError {
  /** The process that failed, for people. */
  readonly by: Holder;
  /** No process tries again for this long. */
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

/** Longest `retryAfter`, in ms: a typing error must not stop all processes for hours. */
const MAX_RETRY_AFTER_MS = 60_000;

/** The record of a failure. */
interface FailureNote {
  readonly failed: Holder;
}

function checksOf<T>() {
  type Functions = RefreshOptions<T>;
  return {
    read: callable<Functions['read']>,
    load: callable<Functions['load']>,
    staleWhileRefreshing: (given: Functions['staleWhileRefreshing'], name: string) =>
      given === undefined ? undefined : callable(given, name),
    retryAfter: (given: Duration = 1000, name: string): number => {
      const ms = parseDuration(given, name);
      if (ms <= MAX_RETRY_AFTER_MS) return ms;
      throw new UsageError(`${name} must be at most ${MAX_RETRY_AFTER_MS} ms.`);
    },
    ...ACQUISITION,
    ttl: LOCK.ttl,
    maxHold: LOCK.maxHold,
  };
}

interface RefreshTerms<T> {
  readonly read: () => Promise<T | undefined>;
  readonly old: (() => Promise<T | undefined>) | undefined;
  readonly load: (lease: Lease) => Promise<T>;
  readonly retryAfterMs: number;
  readonly acquire: AcquireOptions;
}

/** The attempts of one `Locks` that callers may join, by resource. */
type Flights = Map<string, Flight<unknown>>;

const flightsOf = new WeakMap<Engine, Flights>();

/**
 * A value that many callers use and one renews: of all that find it stale, in all processes, one
 * loads it, and the others wait, or use the old one while it is usable. In one process the first
 * caller loads for all; the others share its failure, too.
 *
 * @example
 * import { refresh } from 'holdfast/refresh';
 *
 * const read = async () => fresh(await cache.get('token'));
 * const token = await refresh(locks, 'access-token', { read, load: fetchToken });
 *
 * @throws UsageError synchronously; as rejections the errors of the functions and of a mutex's
 *   `run`, and RefreshError if another process has just failed.
 */
export function refresh<T>(locks: Locks, key: string, options: RefreshOptions<T>): Promise<T> {
  const checked = checkOptions(options, checksOf<T>(), 'refresh');
  const { read, load, staleWhileRefreshing: old, retryAfter: retryAfterMs, ...rest } = checked;
  const { ttl, maxHold, ...acquire } = rest;
  const terms: RefreshTerms<T> = {
    read: async () => (await read()) ?? undefined,
    old: old && (async () => (await old()) ?? undefined),
    load: async (lease) => load(lease),
    retryAfterMs,
    acquire,
  };
  const lock = keyLock(locks, `refresh:${checkKey(key)}`, { ttl, maxHold });
  return doRefresh(lock, terms);
}

async function doRefresh<T>(lock: Lock, terms: RefreshTerms<T>): Promise<T> {
  const { engine, resource } = lock;
  const flights: Flights = flightsOf.get(engine) ?? new Map();
  flightsOf.set(engine, flights);
  // Inside a load of this key, this call would wait for itself.
  lock.checkStranger();
  const { signal } = terms.acquire;
  signal?.throwIfAborted();
  const fresh = await terms.read();
  if (fresh !== undefined) return fresh;
  const usable = flights.has(resource) ? await terms.old?.() : undefined;
  if (usable !== undefined) return usable;
  signal?.throwIfAborted();
  engine.checkOpen();
  const flight = flights.get(resource) ?? new Flight<unknown>(lock, terms, flights);
  return (flight as Flight<T>).join(terms.acquire);
}

/** One attempt, for all its waiters in this process. */
class Flight<T> {
  readonly #lock: Lock;
  readonly #terms: RefreshTerms<T>;
  readonly #flights: Flights;
  readonly #value: Promise<T>;
  readonly #unwanted = new AbortController();
  #end: (error: unknown) => void = () => {};
  #passengers = 0;

  constructor(lock: Lock, terms: RefreshTerms<T>, flights: Flights) {
    this.#lock = lock;
    this.#terms = terms;
    this.#flights = flights;
    flights.set(lock.resource, this);
    this.#value = new Promise((resolve, reject) => {
      this.#end = reject;
      // The caller may leave before it ends, so it holds up none of the caller's locks.
      holding([], () => this.#fly()).then(resolve, reject);
    });
    this.#value.then(this.#close, this.#close);
  }

  /** No more callers may join. */
  readonly #close = (): void => {
    const { resource } = this.#lock;
    if (this.#flights.get(resource) === this) this.#flights.delete(resource);
  };

  /** Waits within these options only, not those of the other waiters. */
  join({ wait = this.#lock.engine.services.settings.waitMs, signal }: AcquireOptions): Promise<T> {
    const { engine, resource } = this.#lock;
    this.#passengers++;
    return new Promise((resolve, reject) => {
      const task: Waiter<T> = new Waiter<T>(engine.services, {
        subject: { spec: { resource, kind: 'mutex' }, leave: () => this.#leave() },
        options: { wait, signal },
        resolve,
        reject,
      });
      this.#value.then(
        (value) => task.resolve(value),
        (error: unknown) => task.reject(error),
      );
    });
  }

  /** The last waiter to leave ends the wait for the lock; a load that runs already goes on. */
  #leave(): void {
    this.#passengers--;
    if (this.#passengers > 0) return;
    this.#close();
    this.#unwanted.abort();
  }

  async #fly(): Promise<T> {
    const lock = this.#lock;
    const { acquire, old } = this.#terms;
    const options = { signal: this.#unwanted.signal, label: acquire.label };
    const attempt = (lease: Lease): Promise<T> => this.#load(lease);
    if (old) {
      const tried = await lock.tryRun(options, attempt);
      if (tried.acquired) return tried.value;
      const usable = await old();
      if (usable !== undefined) return usable;
    }
    // Without end: each waiter has a limit of its own.
    return lock.run({ ...options, wait: MAX_DURATION_MS }, attempt);
  }

  async #load(lease: Lease): Promise<T> {
    const { read, load, old, retryAfterMs } = this.#terms;
    lease.assertHeld();
    lease.stays = true;
    lease.signal.addEventListener('abort', () => this.#end(lease.loss));
    const fresh = await read();
    if (fresh !== undefined) return fresh;
    const shares = retryAfterMs > 0 && lease.live.services.calls.store.traits.records;
    const kept = shares ? await recall<FailureNote>(this.#lock.engine, lease.resource) : undefined;
    if (kept) {
      const usable = await old?.();
      if (usable !== undefined) return usable;
      const { note, leftMs: retryInMs } = kept;
      throw new RefreshError(lease.resource, { by: note.failed, retryInMs });
    }
    try {
      return await load(lease);
    } catch (error) {
      if (shares && lease.held) await this.#noteFailure(lease);
      throw error;
    }
  }

  /** An error here must not hide the load's own error. */
  async #noteFailure(lease: Lease): Promise<void> {
    const { label: _, ...failed } = lease.live.claim.holder;
    const note: FailureNote = { failed };
    await keep(lease, { note, ms: this.#terms.retryAfterMs }).catch(() => {});
  }
}
