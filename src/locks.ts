import { sleep } from './base/clock.ts';
import { type Duration, duration } from './base/duration.ts';
import { UsageError } from './base/errors.ts';
import { checkName, MAX_NAME_BYTES } from './base/names.ts';
import { checkOptions } from './base/options.ts';
import { perProcess } from './base/per-process.ts';
import { ClosedError, UnsupportedError } from './contract/errors.ts';
import { MAX_PERMITS, type Queue, type Store } from './contract/store.ts';
import { numberOf } from './contract/token.ts';
import { Engine } from './core/engine.ts';
import type { LockEventName, LockEvents } from './core/events.ts';
import type { Spec } from './core/local-queue.ts';
import { closeOnSignal } from './primitives/close-on-signal.ts';
import type { Lock } from './primitives/lock.ts';
import {
  checkStore,
  type EvictOptions,
  LOCK,
  LOCKS,
  type LockOptions,
  type LocksOptions,
  readEvict,
  SEMAPHORE,
  type SemaphoreOptions,
  settingsOf,
} from './primitives/lock-options.ts';
import { type Asked, specOf, ttlOf } from './primitives/lock-spec.ts';
import { MultiLock } from './primitives/multi-lock.ts';
import { Mutex } from './primitives/mutex.ts';
import { ReadLock, type RwLock, WriteLock } from './primitives/rw-lock.ts';
import { Semaphore } from './primitives/semaphore.ts';
import { checkBoolean, checkNext } from './store-calls/replies.ts';

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
  #forgetSignals: () => void = () => {};

  /** @internal */
  constructor(store: Store, given: LocksOptions) {
    checkStore(store);
    const options = checkOptions(given, LOCKS, 'createLocks');
    this.engine = new Engine(store, options.clock, settingsOf(options, store));
    ttlOf(this.engine, options.ttl);
    users().set(store, (users().get(store) ?? 0) + 1);
    if (options.releaseOnSignal) this.#forgetSignals = closeOnSignal(() => this.close());
  }

  /**
   * One at a time.
   * @example
   * await locks.mutex('report').run(({ signal }) => buildReport(signal));
   */
  mutex(name: string, options: LockOptions = {}): Mutex {
    const read = checkOptions(options, LOCK, 'mutex');
    return new Mutex(this.engine, this.#spec(name, { ...read, kind: 'mutex', limit: 1 }));
  }

  /**
   * At most `limit` permits at a time; strictly first come, first served, whatever the weight.
   * @example
   * await locks.semaphore('printer', { limit: 3 }).run({ permits: 2 }, () => ship(order));
   */
  semaphore(name: string, options: SemaphoreOptions): Semaphore {
    const read = checkOptions(options, SEMAPHORE, 'semaphore');
    return new Semaphore(this.engine, this.#spec(name, { ...read, kind: 'permits' }));
  }

  /**
   * Many readers or one writer; a waiting writer stops later readers.
   * @example
   * const config = await locks.rwLock('config').read.run(() => readConfig());
   */
  rwLock(name: string, options: LockOptions = {}): RwLock {
    const read = checkOptions(options, LOCK, 'rwLock');
    const side = (kind: 'read' | 'write') =>
      this.#spec(name, { ...read, kind, limit: MAX_PERMITS });
    return {
      read: new ReadLock(this.engine, side('read')),
      write: new WriteLock(this.engine, side('write')),
    };
  }

  /** Several locks at once, all or nothing. */
  all(locks: readonly Lock[]): MultiLock {
    return new MultiLock(this.engine, locks);
  }

  /** The current holders and waiters, with the tokens of leases. */
  inspect(name: string): Promise<Queue> {
    return this.engine.inspect(this.#resource(name));
  }

  /** Names of resources in use, without the prefix of these locks. */
  list(prefix = ''): AsyncGenerator<string, void, void> {
    if (typeof prefix !== 'string' || !prefix.isWellFormed()) {
      throw new UsageError('The prefix must be Unicode text.');
    }
    return this.#list(prefix);
  }

  async *#list(prefix: string): AsyncGenerator<string, void, void> {
    const engine = this.engine;
    engine.checkOpen();
    const { calls, settings } = engine.services;
    const { store } = calls;
    if (!store.list)
      throw new UnsupportedError('list', `The ${store.name} store cannot list names.`);
    const list = store.list.bind(store, settings.prefix + prefix);
    const names = await engine.services.calls.ask(async () => list()[Symbol.asyncIterator](), same);
    for (;;) {
      const { done, value } = await engine.services.calls.ask(() => names.next(), checkNext);
      if (done) return;
      let wanted = false;
      try {
        yield value.slice(settings.prefix.length);
        wanted = true;
      } finally {
        if (!wanted) await engine.services.calls.ask(async () => names.return?.(), same);
      }
    }
  }

  /** Ends the claim of a holder or waiter; false if there is none. */
  evict(name: string, options: EvictOptions): Promise<boolean> {
    return this.#evict(this.#resource(name), readEvict(options));
  }

  async #evict(resource: string, options: Required<EvictOptions>): Promise<boolean> {
    const { token, reason, now } = options;
    const { store } = this.engine.services.calls;
    this.engine.checkOpen();
    if (!store.evict) throw new UnsupportedError('evict', `The ${store.name} store cannot evict.`);
    const evict = store.evict.bind(store, resource, numberOf(token), { reason, now });
    return this.engine.services.calls.ask(evict, checkBoolean);
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
    const { calls, clock } = engine.services;
    this.#forgetSignals();
    engine.refuse();
    for (const candidate of engine.closables) candidate.close();
    for (const queue of engine.queues) queue.rejectAll(new ClosedError());
    const drained = new AbortController();
    void engine.idle().then(() => drained.abort());
    await sleep(clock, drainMs, drained.signal);
    if (engine.queues.size > 0) {
      for (const queue of engine.queues) queue.lose('closed');
      // Work that reacts to its signal at once can still release its lease.
      await sleep(clock, LAST_WORDS_MS);
    }
    const left = (users().get(calls.store) ?? 1) - 1;
    users().set(calls.store, left);
    await engine.closeStore(left <= 0);
  }

  #resource(name: string): string {
    return this.engine.services.settings.prefix + checkName(name, 'name', MAX_NAME_BYTES);
  }

  #spec(name: string, options: Asked): Spec {
    return specOf(this.engine, this.#resource(name), options);
  }
}

const CLOSE = { drain: duration('10s') };

/** How long `close` waits for releases after it has aborted the work, in ms. */
const LAST_WORDS_MS = 100;

const same = <T>(reply: T): T => reply;

/**
 * @internal The engine, for jobs.
 * @throws UsageError unless these are locks of some copy of the library.
 */
export function engineOf(locks: Locks): Engine {
  if (locks?.engine) return locks.engine;
  throw new UsageError('The first argument must be Locks, as createLocks returns them.');
}
