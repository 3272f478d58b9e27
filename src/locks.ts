import { checkBoolean, checkNext } from './answers.ts';
import { systemClock } from './clock.ts';
import { Core } from './core.ts';
import { type Duration, parseDuration } from './duration.ts';
import { ClosedError, UnsupportedError, UsageError } from './errors.ts';
import type { LockEventName, LockEvents } from './events.ts';
import type { Spec } from './local-queue.ts';
import { checkName, MAX_NAME_BYTES } from './names.ts';
import {
  checkLimit,
  checkLocks,
  checkStore,
  ELECTION_OPTIONS,
  type ElectionOptions,
  type EvictOptions,
  LOCK_OPTIONS,
  LOCKS_OPTIONS,
  type LockOptions,
  type LocksOptions,
  readEvict,
  SEMAPHORE_OPTIONS,
  type SemaphoreOptions,
} from './options.ts';
import { perProcess } from './per-process.ts';
import { Election } from './primitives/election.ts';
import { MultiLock } from './primitives/multi-lock.ts';
import { SingleLock } from './primitives/single-lock.ts';
import { readOptions } from './read-options.ts';
import { closeOnSignal } from './signals.ts';
import { type Kind, MAX_PERMITS, type Queue, type Store } from './store.ts';
import { numberOf } from './token.ts';

export interface RwLock {
  readonly read: SingleLock;
  readonly write: SingleLock;
}

/** Below this, in ms, the margin and a busy machine would eat the lease up. */
const MIN_TTL_MS = 100;

/** How many `Locks` use a store; the last one to close closes it. */
function users(): WeakMap<Store, number> {
  return perProcess('users', () => new WeakMap<Store, number>());
}

/**
 * Locks on a store.
 * @throws UsageError
 */
export function createLocks(store: Store, options: LocksOptions = {}): Locks {
  return new Locks(store, options);
}

export class Locks {
  readonly #core: Core;
  #closing: Promise<void> | undefined;
  #forgetSignals: () => void = () => {};

  /** @internal */
  constructor(store: Store, given: LocksOptions) {
    checkStore(store);
    const options = readOptions(given, LOCKS_OPTIONS, 'createLocks');
    this.#core = new Core(store, options.clock ?? systemClock(), checkLocks(options, store));
    this.#ttl(options.ttl);
    users().set(store, (users().get(store) ?? 0) + 1);
    if (options.releaseOnSignal) this.#forgetSignals = closeOnSignal(() => this.close());
  }

  /** One at a time. */
  mutex(name: string, options: LockOptions = {}): SingleLock {
    const read = readOptions(options, LOCK_OPTIONS, 'mutex');
    return this.#lock(name, { ...read, kind: 'mutex', limit: 1 });
  }

  /**
   * At most `limit` permits at a time; strictly first come, first served, whatever their weight.
   */
  semaphore(name: string, options: SemaphoreOptions): SingleLock {
    const read = readOptions(options, SEMAPHORE_OPTIONS, 'semaphore');
    const limit = checkLimit(read.limit, 'limit');
    return this.#lock(name, { ...read, kind: 'permits', limit });
  }

  /** Many readers or one writer; a waiting writer stops later readers. */
  rwLock(name: string, options: LockOptions = {}): RwLock {
    const read = readOptions(options, LOCK_OPTIONS, 'rwLock');
    return {
      read: this.#lock(name, { ...read, kind: 'read', limit: MAX_PERMITS }),
      write: this.#lock(name, { ...read, kind: 'write', limit: MAX_PERMITS }),
    };
  }

  /** Several locks at once, all or nothing. */
  all(locks: readonly SingleLock[]): MultiLock {
    return new MultiLock(this.#core, locks);
  }

  /** `seats` of all candidates lead, the others stand by. */
  election(name: string, options: ElectionOptions = {}): Election {
    const { seats = 1, ...rest } = readOptions(options, ELECTION_OPTIONS, 'election');
    const limit = checkLimit(seats, 'seats');
    return new Election(this.#core, this.#lock(name, { ...rest, kind: 'permits', limit }));
  }

  /** Who holds and who waits now, with tokens as leases have them. */
  inspect(name: string): Promise<Queue> {
    return this.#core.inspect(this.#resource(name));
  }

  /** Names, without this prefix of ours, of resources that somebody holds or waits for. */
  list(prefix = ''): AsyncGenerator<string, void, void> {
    if (typeof prefix !== 'string' || !prefix.isWellFormed()) {
      throw new UsageError('The prefix must be Unicode text.');
    }
    return this.#list(prefix);
  }

  async *#list(prefix: string): AsyncGenerator<string, void, void> {
    const core = this.#core;
    core.checkOpen();
    const { store, options } = core;
    if (!store.list) throw new UnsupportedError('list', `The ${store.name} store keeps no list.`);
    const list = store.list.bind(store, options.prefix + prefix);
    const names = await core.answer(async () => list()[Symbol.asyncIterator](), same);
    for (;;) {
      const { done, value } = await core.answer(() => names.next(), checkNext);
      if (done) return;
      let wanted = false;
      try {
        yield value.slice(options.prefix.length);
        wanted = true;
      } finally {
        if (!wanted) await core.answer(async () => names.return?.(), same);
      }
    }
  }

  /** Takes a lock away from its holder, or a place from a waiter; false if there is none. */
  evict(name: string, options: EvictOptions): Promise<boolean> {
    return this.#evict(this.#resource(name), readEvict(options));
  }

  async #evict(resource: string, options: Required<EvictOptions>): Promise<boolean> {
    const { token, reason, now } = options;
    const { store } = this.#core;
    this.#core.checkOpen();
    if (!store.evict) throw new UnsupportedError('evict', `The ${store.name} store cannot evict.`);
    const evict = store.evict.bind(store, resource, numberOf(token), { reason, now });
    return this.#core.answer(evict, checkBoolean);
  }

  /** Listens; returns the way to stop. See `LockEvents`. */
  on<N extends LockEventName>(name: N, listener: (event: LockEvents[N]) => void): () => void {
    return this.#core.events.on(name, listener);
  }

  /**
   * Refuses new claims, ends waits and campaigns with `ClosedError`, and lets running work finish;
   * after `drain` (default 10 s) its signals abort. What has settled is released; a lease whose
   * work has not keeps the resource until its TTL ends it. Then closes the store, if these were its
   * last locks.
   */
  close(options: { readonly drain?: Duration } = {}): Promise<void> {
    const { drain = '10s' } = readOptions(options, ['drain'], 'close');
    const drainMs = parseDuration(drain, 'drain');
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(drainMs: number): Promise<void> {
    const core = this.#core;
    this.#forgetSignals();
    core.refuse();
    for (const candidate of core.campaigns) candidate.close();
    for (const queue of core.queues) queue.rejectAll(new ClosedError());
    const drained = new AbortController();
    void core.idle().then(() => drained.abort());
    await core.sleep(drainMs, drained.signal);
    if (core.queues.size > 0) {
      for (const queue of core.queues) queue.lose('closed');
      // What reacts to its signal at once still gets to tell the store.
      await core.sleep(LAST_WORDS_MS);
    }
    const left = (users().get(core.store) ?? 1) - 1;
    users().set(core.store, left);
    await core.closeStore(left <= 0);
  }

  #resource(name: string): string {
    return this.#core.options.prefix + checkName(name, 'name', MAX_NAME_BYTES);
  }

  #ttl(ttl: Duration | undefined, what = 'ttl'): number {
    const { options, store } = this.#core;
    const ttlMs = ttl === undefined ? options.ttlMs : parseDuration(ttl, what);
    const least = Math.max(MIN_TTL_MS, store.traits.ttlStepMs);
    if (ttlMs < least) throw new UsageError(`${what} must be at least ${least} ms, not ${ttlMs}.`);
    return this.#atMost(ttlMs, what);
  }

  #atMost(ms: number, what: string): number {
    const { options, store } = this.#core;
    const { maxTtlMs } = options;
    if (ms <= maxTtlMs) return ms;
    const where = maxTtlMs === store.maxTtlMs ? `the ${store.name} store` : 'createLocks';
    const raise = `raise the option maxTtl of ${where} for all users of the store`;
    throw new UsageError(`${what} is ${ms} ms, more than maxTtl, ${maxTtlMs} ms: ${raise}.`);
  }

  #lock(name: string, options: LockOptions & { kind: Kind; limit: number }): SingleLock {
    const { kind, limit, fair = false, reentrant = false, heartbeat = true } = options;
    const { minHold = 0 } = options;
    const resource = this.#resource(name);
    const ttlMs = this.#ttl(options.ttl);
    const minHoldMs = this.#atMost(parseDuration(minHold, 'minHold'), 'minHold');
    const maxHoldMs =
      options.maxHold === undefined ? undefined : parseDuration(options.maxHold, 'maxHold');
    if (maxHoldMs === 0) throw new UsageError('maxHold must be more than 0.');
    if (maxHoldMs !== undefined && maxHoldMs < minHoldMs) {
      throw new UsageError('maxHold must not be less than minHold.');
    }
    for (const [what, flag] of Object.entries({ fair, reentrant, heartbeat })) {
      if (typeof flag !== 'boolean') throw new UsageError(`${what} must be true or false.`);
    }
    // Without heartbeats, and with minHold, a lease is as long as its own claim.
    const whole = heartbeat && minHoldMs === 0;
    const shared = !fair && whole && (kind === 'mutex' || kind === 'write');
    const key = `${kind} ${ttlMs} ${maxHoldMs ?? ''} ${resource}`;
    const spec: Spec = {
      ...{ resource, kind, limit, ttlMs, minHoldMs, maxHoldMs, heartbeat, reentrant, shared, key },
    };
    return new SingleLock(this.#core, spec);
  }
}

/** How long `close` waits for releases after it has aborted the work, in ms. */
const LAST_WORDS_MS = 100;

function same<T>(answer: T): T {
  return answer;
}
