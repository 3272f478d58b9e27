import { type Clock, systemClock } from './clock.ts';
import { Core, type CoreOptions } from './core.ts';
import { type Duration, parseDuration } from './duration.ts';
import { ClosedError, UnsupportedError, UsageError } from './errors.ts';
import type { LockEventName, LockEvents } from './events.ts';
import { type Spec, STEP } from './local-queue.ts';
import { checkName, MAX_NAME_BYTES, MAX_PREFIX_BYTES } from './names.ts';
import { Election } from './primitives/election.ts';
import { MultiLock } from './primitives/multi-lock.ts';
import { SingleLock } from './primitives/single-lock.ts';
import { type Kind, MAX_PERMITS, type Queue, type Store } from './store.ts';

export interface LocksOptions {
  /** Put before every name; at most 128 bytes. */
  readonly prefix?: string;
  /** Shown to people who look at the queue. */
  readonly label?: string;
  /**
   * How long a claim lives without a heartbeat; default 10 s: long enough for three heartbeats
   * through a bad moment, short enough to wait for a dead holder.
   */
  readonly ttl?: Duration;
  /** Default for `wait`; default none: wait until granted or aborted. */
  readonly wait?: Duration;
  /**
   * Longest ttl and minHold; default 30 s. All users of a store should say the same: it is how long
   * a store that lost its memory grants nothing.
   */
  readonly maxTtl?: Duration;
  /** How much faster than ours the store's clock may run; default 0.01, 1 %, as in Redlock. */
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
   * Strict order across all processes; default false: tasks of one process hand the lock on among
   * themselves, in bounded batches while others wait, because that is a hundred times faster.
   */
  readonly fair?: boolean;
  /** A nested `run` in the context of a holder enters at once; default false: it throws. */
  readonly reentrant?: boolean;
  /** The lock stays taken for at least this long, even if the process is gone; default 0. */
  readonly minHold?: Duration;
  /** The lease is given up after this long although the process is alive; default never. */
  readonly maxHold?: Duration;
  /** Default true. False: the lease ends a ttl after it was granted, whatever happens. */
  readonly heartbeat?: boolean;
}

export interface SemaphoreOptions extends LockOptions {
  /** How many permits there are. */
  readonly limit: number;
}

export interface ElectionOptions extends Omit<LockOptions, 'reentrant' | 'fair'> {
  /** How many lead at a time; default 1. */
  readonly seats?: number;
}

export interface EvictOptions {
  /** The token of the lease, or of the waiter, as `inspect` shows it. */
  readonly token: bigint;
  /** For the record. */
  readonly reason: string;
  /**
   * Ends the claim at once; only a fence protects then. Default false: it gets no more heartbeats
   * and ends with its TTL, so that its holder is told in time.
   */
  readonly now?: boolean;
}

export interface RwLock {
  readonly read: SingleLock;
  readonly write: SingleLock;
}

/** Margin in ms that every deadline keeps: timers fire late, servers round. */
const MARGIN_MS = 20;

/** Below this, in ms, the margin and a busy machine would eat the lease up. */
const MIN_TTL_MS = 100;

/** How many `Locks` use a store; the last one to close closes it. */
const users = new WeakMap<Store, number>();

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

  constructor(store: Store, options: LocksOptions) {
    if (typeof store?.claim !== 'function') {
      throw new UsageError('createLocks takes a store, such as sqliteStore(file).');
    }
    checkKeys(options, LOCKS_OPTIONS, 'createLocks');
    this.#core = new Core(store, options.clock ?? systemClock(), checkLocks(options));
    this.#ttl(options.ttl);
    users.set(store, (users.get(store) ?? 0) + 1);
    if (options.releaseOnSignal) this.#releaseOnSignal();
  }

  /** One at a time. */
  mutex(name: string, options: LockOptions = {}): SingleLock {
    checkKeys(options, LOCK_OPTIONS, 'mutex');
    return this.#lock(name, { ...options, kind: 'mutex', limit: 1 });
  }

  /** At most `limit` permits at a time; strictly first come, first served, whatever their weight. */
  semaphore(name: string, options: SemaphoreOptions): SingleLock {
    checkKeys(options, SEMAPHORE_OPTIONS, 'semaphore');
    return this.#lock(name, {
      ...options,
      kind: 'permits',
      limit: checkLimit(options.limit, 'limit'),
    });
  }

  /** Many readers or one writer; a waiting writer stops later readers. */
  rwLock(name: string, options: LockOptions = {}): RwLock {
    checkKeys(options, LOCK_OPTIONS, 'rwLock');
    return {
      read: this.#lock(name, { ...options, kind: 'read', limit: MAX_PERMITS }),
      write: this.#lock(name, { ...options, kind: 'write', limit: MAX_PERMITS }),
    };
  }

  /** Several locks at once, all or nothing. */
  all(locks: readonly SingleLock[]): MultiLock {
    return new MultiLock(this.#core, locks);
  }

  /** `seats` of all candidates lead, the others stand by. */
  election(name: string, options: ElectionOptions = {}): Election {
    checkKeys(options, ELECTION_OPTIONS, 'election');
    const { seats = 1, ...rest } = options;
    const limit = checkLimit(seats, 'seats');
    return new Election(this.#core, this.#lock(name, { ...rest, kind: 'permits', limit }));
  }

  /** Who holds and who waits now, with tokens as leases have them. */
  inspect(name: string): Promise<Queue> {
    const resource = this.#resource(name);
    this.#core.checkOpen();
    return this.#core.inspect(resource);
  }

  /** Names, without this prefix of ours, of resources that somebody holds or waits for. */
  async *list(prefix = ''): AsyncGenerator<string, void, void> {
    const { store, options } = this.#core;
    this.#core.checkOpen();
    if (!store.list) throw new UnsupportedError('list', `The ${store.name} store keeps no list.`);
    for await (const resource of store.list(options.prefix + prefix)) {
      yield resource.slice(options.prefix.length);
    }
  }

  /** Takes a lock away from its holder, or a place from a waiter; false if there is none. */
  async evict(name: string, { token, reason, now = false }: EvictOptions): Promise<boolean> {
    const resource = this.#resource(name);
    if (typeof token !== 'bigint') throw new UsageError('token must be a bigint.');
    if (typeof reason !== 'string' || reason === '') throw new UsageError('evict takes a reason.');
    const { store } = this.#core;
    this.#core.checkOpen();
    if (!store.evict) throw new UnsupportedError('evict', `The ${store.name} store cannot evict.`);
    return store.evict(resource, token / BigInt(STEP), { reason, now });
  }

  /** Listens; returns the way to stop. See `LockEvents`. */
  on<N extends LockEventName>(name: N, listener: (event: LockEvents[N]) => void): () => void {
    return this.#core.events.on(name, listener);
  }

  /**
   * Refuses new claims, ends waits and campaigns with `ClosedError`, and lets running work finish;
   * after `drain` (default 10 s) its signals abort. What has settled is released; a lease whose work
   * has not keeps the resource until its TTL ends it. Then closes the store, if these were its last
   * locks.
   */
  close({ drain = '10s' }: { readonly drain?: Duration } = {}): Promise<void> {
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
    const left = (users.get(core.store) ?? 1) - 1;
    users.set(core.store, left);
    await core.closeStore(left <= 0);
  }

  #releaseOnSignal(): void {
    const close = (signal: NodeJS.Signals): void => {
      void this.close().finally(() => process.kill(process.pid, signal));
    };
    for (const signal of SIGNALS) process.once(signal, close);
    this.#forgetSignals = () => {
      for (const signal of SIGNALS) process.removeListener(signal, close);
    };
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
    const { maxTtlMs } = this.#core.options;
    if (ms <= maxTtlMs) return ms;
    const raise = 'raise the option maxTtl of createLocks for all users of the store';
    throw new UsageError(`${what} is ${ms} ms, more than maxTtl, ${maxTtlMs} ms: ${raise}.`);
  }

  #lock(name: string, options: LockOptions & { kind: Kind; limit: number }): SingleLock {
    const { kind, limit, fair = false, reentrant = false, heartbeat = true } = options;
    const resource = this.#resource(name);
    const ttlMs = this.#ttl(options.ttl);
    const minHoldMs = this.#atMost(parseDuration(options.minHold ?? 0, 'minHold'), 'minHold');
    const maxHoldMs =
      options.maxHold === undefined ? undefined : parseDuration(options.maxHold, 'maxHold');
    if (maxHoldMs === 0) throw new UsageError('maxHold must be more than 0.');
    if (maxHoldMs !== undefined && maxHoldMs < minHoldMs) {
      throw new UsageError('maxHold must not be less than minHold.');
    }
    for (const [what, flag] of Object.entries({ fair, reentrant, heartbeat })) {
      if (typeof flag !== 'boolean') throw new UsageError(`${what} must be true or false.`);
    }
    const shared = !fair && minHoldMs === 0 && (kind === 'mutex' || kind === 'write');
    const key = `${kind} ${ttlMs} ${maxHoldMs ?? ''} ${heartbeat} ${resource}`;
    const spec: Spec = {
      ...{ resource, kind, limit, ttlMs, minHoldMs, maxHoldMs, heartbeat, reentrant, shared, key },
    };
    return new SingleLock(this.#core, spec);
  }
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/** How long `close` waits for releases after it has aborted the work, in ms. */
const LAST_WORDS_MS = 100;

const LOCK_OPTIONS = ['ttl', 'fair', 'reentrant', 'minHold', 'maxHold', 'heartbeat'];
const SEMAPHORE_OPTIONS = [...LOCK_OPTIONS, 'limit'];
const ELECTION_OPTIONS = ['ttl', 'minHold', 'maxHold', 'heartbeat', 'seats'];
const LOCKS_OPTIONS = [
  ...['prefix', 'label', 'ttl', 'wait', 'maxTtl', 'drift', 'releaseOnSignal', 'clock'],
];

/** An option that is misspelt would be ignored silently: refuse it instead. */
function checkKeys(options: object, known: readonly string[], what: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new UsageError(`The options of ${what} must be an object.`);
  }
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const all = known.join(', ');
  throw new UsageError(`${what} has no option ${JSON.stringify(unknown)}; it has ${all}.`);
}

function checkLimit(limit: number, what: string): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PERMITS) return limit;
  throw new UsageError(`${what} must be a whole number from 1 to ${MAX_PERMITS}, not ${limit}.`);
}

function checkLocks(options: LocksOptions): CoreOptions {
  const { prefix = '', label, ttl = 10_000, wait, maxTtl = 30_000, drift = 0.01 } = options;
  if (prefix !== '') checkName(prefix, 'prefix', MAX_PREFIX_BYTES);
  if (label !== undefined && typeof label !== 'string') throw new UsageError('label must be text.');
  if (!(drift >= 0 && drift < 0.5)) throw new UsageError('drift must be from 0 to 0.5.');
  return {
    prefix,
    label,
    ttlMs: parseDuration(ttl, 'ttl'),
    waitMs: wait === undefined ? undefined : parseDuration(wait, 'wait'),
    maxTtlMs: parseDuration(maxTtl, 'maxTtl'),
    driftRate: drift,
    marginMs: MARGIN_MS,
  };
}
