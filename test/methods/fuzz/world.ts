/**
 * Where the calls of one run happen: two `Locks` on one store, in virtual time, and a record of
 * everything that was called.
 *
 * What must hold, whatever was called in whatever order: an error is a `LockError` with a code that
 * is documented for the call, or exactly what the program itself threw or aborted with; no two
 * leases that exclude each other are held at once; and when all is closed, nothing is left: no
 * promise unsettled but for work that never ends, no timer, no listener, no watch, no claim.
 */

import { getEventListeners } from 'node:events';
import {
  allOf,
  createLocks,
  isLockError,
  type Lease,
  type Lock,
  LockError,
  type LockErrorCode,
  type Locks,
  type MultiLease,
} from 'holdfast';
import { createElection } from 'holdfast/election';
import type { SqliteConnection } from 'holdfast/fence';
import { type MemoryStore, memoryStore } from 'holdfast/memory';
import { type CountingStore, countingStore } from 'holdfast/testkit';
import { FakeClock } from '../../support/fake-clock.ts';
import { database, idle } from './database.ts';
import { complain } from './process-watch.ts';

interface Tracked {
  readonly what: string;
  settled: boolean;
}

/** Work that a later step settles. */
interface Unfinished {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** Longer than any claim lives and any pause lasts, in ms. */
const LONG_MS = 70_000;

export class World {
  readonly clock: FakeClock = new FakeClock();
  readonly memory: MemoryStore;
  readonly store: CountingStore;
  readonly locks: readonly Locks[];
  /** Without permits; those are kept as things. */
  readonly lockables: Lock[] = [];
  /** Those of the first locks: only they can be taken together. */
  readonly own: Set<unknown> = new Set();
  /** Locks that calls have made, to be closed at the end. */
  readonly extra: Locks[] = [];
  readonly leases: Lease[] = [];
  readonly controllers: readonly AbortController[];
  readonly unfinished: Unfinished[] = [];
  /** What the program threw, rejected with or aborted with. */
  readonly reasons: Set<unknown> = new Set();
  /** Everything else that later steps use, by kind. */
  readonly things: Map<string, unknown[]> = new Map();
  /** Claims that were taken away at once: their holders may not have heard of it yet. */
  readonly evicted: Set<string> = new Set();
  readonly #tracked: Tracked[] = [];
  #ending = false;
  readonly database: SqliteConnection = database;
  readonly idle: SqliteConnection = idle;
  watching = 0;
  closed = false;
  /** Calls with right arguments are left out, so that nothing may be sent at all. */
  readonly wrongOnly: boolean;

  constructor(wrongOnly = false) {
    this.wrongOnly = wrongOnly;
    const { clock } = this;
    this.memory = memoryStore({ clock, maxWaiters: 5 });
    this.store = countingStore(this.#counted(this.memory));
    this.locks = [
      createLocks(this.store, { clock }),
      createLocks(this.store, { clock, prefix: 'p:' }),
    ];
    this.controllers = [0, 1, 2, 3].map(() => new AbortController());
    this.controllers[0]?.abort();
    this.reasons.add(this.controllers[0]?.signal.reason);
    const [own, other] = this.locks as [Locks, Locks];
    this.lockables.push(
      ...[own.mutex('a'), own.mutex('a', { fair: true }), own.mutex('b', { reentrant: true })],
      ...[own.rwLock('r').read, own.rwLock('r').write, own.mutex('p:c'), other.mutex('c')],
    );
    for (const lock of this.lockables.slice(0, -1)) this.own.add(lock);
    this.keep('semaphore', own.semaphore('s', { limit: 3 }));
    this.keep('semaphore', own.semaphore('s', { limit: 2 }));
    this.keep('election', createElection(own, 'e'));
    this.keep('multi', allOf([own.mutex('a'), own.mutex('b')]));
  }

  add(lock: Lock): void {
    this.lockables.push(lock);
    this.own.add(lock);
  }

  /** A lease, or several at once, that the program got. */
  held(lease: Lease | MultiLease): void {
    if ('leases' in lease) this.leases.push(...lease.leases);
    else this.leases.push(lease);
    if ('leases' in lease) this.keep('multi-lease', lease);
  }

  /** Something that the program throws or aborts with: it must come back as it is. */
  reason<T>(reason: T): T {
    this.reasons.add(reason);
    return reason;
  }

  lock(at: number): Lock {
    return this.lockables[at % this.lockables.length] as Lock;
  }

  lease(at: number): Lease | undefined {
    return this.leases[at % Math.max(1, this.leases.length)];
  }

  signal(at: number): AbortSignal {
    return (this.controllers[at % this.controllers.length] as AbortController).signal;
  }

  /** Until the clock says so, or the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.setTimeout(() => resolve('slept'), ms);
      const stop = (): void => {
        this.clock.clearTimeout(timer);
        reject(this.reason(signal?.reason));
      };
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop);
    });
  }

  /** Until a later step says so. */
  later(): Promise<unknown> {
    if (this.#ending) return Promise.resolve('at once');
    return new Promise((resolve, reject) => this.unfinished.push({ resolve, reject }));
  }

  /** The `at`th thing of this kind, counted modulo how many there are. */
  thing<T>(kind: string, at: number): T | undefined {
    const all = this.things.get(kind) ?? [];
    return all[at % Math.max(1, all.length)] as T | undefined;
  }

  keep(kind: string, thing: unknown): void {
    const all = this.things.get(kind) ?? [];
    if (all.length === 0) this.things.set(kind, all);
    all.push(thing);
  }

  /** A promise that must settle before the end, with one of these codes if it rejects. */
  track(
    what: string,
    promise: PromiseLike<unknown>,
    codes: readonly LockErrorCode[],
    endless = false,
  ): void {
    const tracked: Tracked = { what, settled: false };
    if (!endless) this.#tracked.push(tracked);
    promise.then(
      () => (tracked.settled = true),
      (error: unknown) => {
        tracked.settled = true;
        this.judge(what, error, codes);
      },
    );
  }

  /** Complains about an error that is neither documented nor the program's own. */
  judge(what: string, error: unknown, codes: readonly LockErrorCode[]): void {
    if (this.reasons.has(error) || isUncallable(error)) return;
    if (!this.closed && isLockError(error, 'CLOSED')) complain(`${what} says it is closed`);
    if (isTyped(error, codes)) return;
    complain(`${what} failed with what is not documented for it`, error);
  }

  /** Lets run what is due now, then looks whether two hold what only one can. */
  async rest(ms = 0): Promise<void> {
    await this.clock.advance(ms);
    const byResource = new Map<string, Set<Lease>>();
    for (const lease of this.leases) {
      if (!lease.held || this.evicted.has(placeOf(lease))) continue;
      const holders = byResource.get(lease.resource) ?? new Set();
      byResource.set(lease.resource, holders.add(lease));
    }
    for (const [resource, holders] of byResource) checkHolders(resource, [...holders]);
  }

  /** Ends everything and looks whether anything is left. */
  async end(): Promise<void> {
    this.closed = true;
    this.#ending = true;
    for (const work of this.unfinished) work.resolve('done');
    await this.rest();
    const closings = [...this.locks, ...this.extra].map((locks) => locks.close({ drain: 100 }));
    closings.forEach((closing, i) => this.track(`close of locks ${i}`, closing, []));
    await this.rest(LONG_MS);
    for (const { what, settled } of this.#tracked) if (!settled) complain(`${what} never settles`);
    if (this.clock.timers > 0) complain(`${this.clock.timers} timers are left`);
    if (this.watching !== 0) complain(`${this.watching} watches are left`);
    for (const lease of this.leases) if (lease.held) complain(`a lease is held after close`);
    for (const [i, { signal }] of this.controllers.entries()) {
      const left = getEventListeners(signal, 'abort').length;
      if (left > 0) complain(`${left} listeners are left on signal ${i}`);
    }
    for await (const name of this.store.list?.('') ?? []) complain(`the store still has ${name}`);
    await this.#check();
  }

  /** After all that, the ordinary still works. */
  async #check(): Promise<void> {
    const { clock, store } = this;
    const locks = createLocks(store, { clock });
    const answers: unknown[] = [];
    for (const name of ['a', 'r', 'after']) {
      locks
        .mutex(name)
        .run({ wait: 1_000 }, ({ held }) => held)
        .then(
          (answer) => answers.push(answer),
          (error: unknown) => answers.push(error),
        );
    }
    await clock.advance(2_000);
    if (answers.some((answer) => answer !== true) || answers.length !== 3) {
      complain('an ordinary run does not work any more', answers);
    }
    await Promise.all([locks.close(), clock.advance(2_000)]);
    if (clock.timers > 0) complain('timers are left by ordinary runs');
  }

  /** The same store, with its watches counted. */
  #counted(store: MemoryStore): MemoryStore {
    const watch = store.watch?.bind(store);
    if (!watch) return store;
    return Object.assign(store, {
      watch: async (...args: Parameters<typeof watch>) => {
        const subscription = await watch(...args);
        this.watching++;
        let over = false;
        return {
          [Symbol.asyncDispose]: async () => {
            if (!over) this.watching--;
            over = true;
            await subscription[Symbol.asyncDispose]();
          },
        };
      },
    });
  }
}

/** An error of the library, whole, with one of these codes. */
export function isTyped(error: unknown, codes: readonly LockErrorCode[]): boolean {
  return error instanceof LockError && codes.includes(error.code) && error.message !== '';
}

/** What calling the work itself throws, if it is a class. */
function isUncallable(error: unknown): boolean {
  return error instanceof TypeError && error.message.startsWith('Class constructor');
}

/** Which claim of which resource: what an eviction ends. */
export function placeOf({ resource, token }: Pick<Lease, 'resource' | 'token'>): string {
  return `${token / 1024n} ${resource}`;
}

function checkHolders(resource: string, holders: readonly Lease[]): void {
  if (holders.length < 2) return;
  const kinds = new Set(holders.map(({ kind }) => kind));
  if (kinds.size > 1) complain(`${resource} is held as ${[...kinds].join(' and ')}`);
  if (kinds.has('mutex') || kinds.has('write')) complain(`${holders.length} hold ${resource}`);
  const permits = holders.reduce((sum, lease) => sum + lease.permits, 0);
  if (kinds.has('permits') && permits > MOST_PERMITS) complain(`${permits} permits of ${resource}`);
}

/** The largest limit that any step gives to a semaphore. */
export const MOST_PERMITS = 3;
