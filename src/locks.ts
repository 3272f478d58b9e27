import { sleep } from './base/clock.ts';
import { type Duration, duration } from './base/duration.ts';
import { UsageError } from './base/errors.ts';
import { checkOptions, misplaced, noWork } from './base/options.ts';
import { perProcess } from './base/per-process.ts';
import { ClosedError, toStoreError } from './contract/errors.ts';
import { MAX_PERMITS, type Store } from './contract/store.ts';
import { Engine, type Inspection } from './core/engine.ts';
import type { LockEventName, LockEvents } from './core/events.ts';
import type { Lease } from './core/lease.ts';
import type { Spec } from './core/services.ts';
import { Mutex, ReadLock, type RwLock, Semaphore, WriteLock } from './primitives/kinds.ts';
import {
  type CheckedLock,
  checkStore,
  LOCK,
  LOCKS,
  type LockOptions,
  type LocksOptions,
  SEMAPHORE,
  type SemaphoreOptions,
  settingsOf,
  specOf,
  ttlOf,
} from './primitives/lock-options.ts';
import { type ResumeOptions, resume } from './primitives/resume.ts';

/** How many `Locks` use a store; the last one to close closes it. */
function users(): WeakMap<Store, number> {
  return perProcess('users', () => new WeakMap<Store, number>());
}

/**
 * Locks on a store.
 * @example
 * import { createLocks } from 'holdfast';
 * import { memoryStore } from 'holdfast/memory';
 * const locks = createLocks(memoryStore(), { prefix: 'shop:', wait: '10s' });
 * @throws UsageError
 */
export function createLocks(store: Store, options: LocksOptions = {}): Locks {
  return new Locks(store, options);
}

/** Made by `createLocks`: locks of all kinds on one store. */
export class Locks {
  /** @internal */
  readonly engine: Engine;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(store: Store, given: LocksOptions) {
    checkStore(store);
    const options = checkOptions(given, LOCKS, 'createLocks');
    this.engine = new Engine(store, options.clock, settingsOf(options, store));
    ttlOf(this.engine, options.ttl);
    users().set(store, (users().get(store) ?? 0) + 1);
  }

  /**
   * One at a time.
   * @example
   * await locks.mutex('report').run(({ signal }) => buildReport(signal));
   */
  mutex(name: string, options: LockOptions = {}): Mutex {
    const read = checkOptions(noWork(options), LOCK, 'mutex');
    return new Mutex(this.engine, this.#spec(name, { ...read, kind: 'mutex', limit: 1 }));
  }

  /**
   * At most `limit` permits at a time; strictly first come, first served, whatever the weight. With
   * `minHold`, also at most `limit` in any such time: a rate limit for all processes.
   * @example
   * await locks.semaphore('printer', { limit: 3 }).run({ permits: 2 }, () => ship(order));
   */
  semaphore(name: string, options: SemaphoreOptions): Semaphore {
    const read = checkOptions(noWork(options), SEMAPHORE, 'semaphore');
    return new Semaphore(this.engine, this.#spec(name, { ...read, kind: 'permits' }));
  }

  /**
   * Many readers or one writer; a waiting writer stops later readers.
   * @example
   * const config = await locks.rwLock('config').read.run(() => readConfig());
   */
  rwLock(name: string, options: LockOptions = {}): RwLock {
    const read = checkOptions(noWork(options), LOCK, 'rwLock');
    const side = (kind: 'read' | 'write') =>
      this.#spec(name, { ...read, kind, limit: MAX_PERMITS });
    return {
      read: new ReadLock(this.engine, side('read')),
      write: new WriteLock(this.engine, side('write')),
      run: misplaced,
    };
  }

  /**
   * The lease that another process handed over with `lease.handOver`, on the same lock. Only the
   * first that comes with the text gets it. Its `minHold` and `maxHold` begin anew.
   * @example
   * await using lease = await locks.resume(job.lease, { maxHold: '5m' });
   * await buildReport(lease.signal);
   * @throws UsageError synchronously; as rejections LeaseLostError, which says in `reason` if it
   *   was `resumed` before or `expired`, AcquireTimeoutError, `signal.reason`, StoreError,
   *   UnsupportedError and ClosedError.
   */
  resume(text: string, options: ResumeOptions = {}): Promise<Lease> {
    return resume(this.engine, text, options);
  }

  /** The current holders and waiters, with the tokens of leases. */
  inspect(name: string): Promise<Inspection> {
    return this.engine.inspect(this.engine.resource(name));
  }

  /** Adds a listener; returns a function that removes it. See `LockEvents`. */
  on<N extends LockEventName>(name: N, listener: (event: LockEvents[N]) => void): () => void {
    return this.engine.services.events.on(name, listener);
  }

  /**
   * Refuses new claims, ends waits and campaigns with `ClosedError`, and lets running work finish.
   * After `drain` (default 10 s) the signals of running work abort. Leases are released when their
   * work settles, and otherwise end with their TTL. Then closes the store, if these were its last
   * locks.
   * @example
   * process.once('SIGTERM', () => locks.close({ drain: '5s' }));
   */
  close(options: { readonly drain?: Duration } = {}): Promise<void> {
    const { drain } = checkOptions(options, CLOSE, 'close');
    this.#closing ??= this.#close(drain);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(drainMs: number): Promise<void> {
    const engine = this.engine;
    const { calls, clock, heartbeat, keepAlive } = engine.services;
    engine.closing.abort();
    for (const queue of engine.queues.all) queue.rejectAll(new ClosedError());
    const drained = new AbortController();
    void calls.releases.underway.none().then(() => drained.abort());
    await sleep(clock, drainMs, drained.signal);
    if (engine.queues.all.length > 0) {
      for (const queue of engine.queues.all) queue.lose('closed');
      // Work that reacts to its signal at once can still release its lease.
      await sleep(clock, LAST_WORDS_MS);
    }
    const left = (users().get(calls.store) ?? 1) - 1;
    users().set(calls.store, left);
    calls.close();
    heartbeat.close();
    keepAlive.close();
    engine.queues.close();
    if (left > 0) return;
    try {
      await calls.store.close?.();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  #spec(name: string, options: CheckedLock): Spec {
    return specOf(this.engine, this.engine.resource(name), options);
  }
}

/** @internal */
export const CLOSE = { drain: duration('10s') };

/** How long `close` waits for releases after it has aborted the work, in ms. */
const LAST_WORDS_MS = 100;

/**
 * @internal The engine, for jobs.
 * @throws UsageError unless these are locks of some copy of the library.
 */
export function engineOf(locks: Locks): Engine {
  if (locks?.engine) return locks.engine;
  throw new UsageError('The first argument must be Locks, as createLocks returns them.');
}
