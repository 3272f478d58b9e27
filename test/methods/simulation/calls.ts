/**
 * Calls of one process, any of them in any order, on a store that is honest or garbled.
 *
 * What must hold: each promise settles, with what is documented for it, or with what the program
 * itself has thrown or aborted with; a lease is held only while the store has its claim; once the
 * store is honest again, an ordinary run works; and when all is closed, no timer, no listener and
 * no claim is left.
 */
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import type { Lease, Lock, LockErrorCode, Locks, MultiLease } from 'holdfast';
import { createLocks, LockError } from 'holdfast';
import { type MemoryStore, memoryStore } from 'holdfast/memory';
import { FakeClock } from '../../support/fake-clock.ts';
import { type GarbledStore, garbledStore, HONEST, type Script } from './garbled-store.ts';

export type Codes = readonly LockErrorCode[];

type Pending = Set<Promise<unknown>>;

export const TAKING: Codes = ['ACQUIRE_TIMEOUT', 'LEASE_LOST', 'MISMATCH', 'QUEUE_FULL'];

/** Whatever a store answers. */
const GARBLED: Codes = [...TAKING, 'STORE', 'REFRESH'];

const CLOSED: Codes = ['CLOSED'];

/** What programs throw and abort with. */
const REASONS: readonly unknown[] = [
  ...[new Error('mine'), undefined, null, 0, Number.NaN, 'mine', Symbol('mine'), () => 1],
  ...[Object.create(null), Object.freeze(new Error('frozen'))],
];

/** Of an ordinary run, in ms. */
export const WAIT = { wait: 3_000 } as const;

/** Longer than every wait, every work and every life, in ms. */
const LONG_MS = 12_000;

export class Calls {
  readonly clock: FakeClock = new FakeClock();
  readonly own: Locks;
  /** On the same store. */
  readonly other: Locks;
  readonly locks: readonly Lock[];
  readonly leases: Lease[] = [];
  readonly controllers: readonly AbortController[];
  readonly generators: AsyncGenerator<unknown, void, void>[] = [];
  /** Ends the work that waits for it. */
  readonly unfinished: (() => void)[] = [];
  /** What the program threw, rejected with or aborted with. */
  readonly reasons: Set<unknown> = new Set();
  /** Claims that were evicted at once: their holders may not have heard of it yet. */
  readonly evicted: Set<string> = new Set();
  readonly problems: string[] = [];
  /** What has not settled: before the end, and what may wait for a close. */
  readonly calls: Pending = new Set();
  readonly terms: Pending = new Set();
  readonly #truth: MemoryStore;
  readonly #store: GarbledStore;
  readonly #honest: boolean;
  #closed = false;
  #ending = false;

  constructor(script: Script) {
    const { clock } = this;
    this.#honest = script === HONEST;
    this.#truth = memoryStore({ clock, maxWaiters: 5 });
    this.#store = garbledStore(this.#truth, clock, script);
    const [own, other] = ['', 'p:'].map((prefix) =>
      createLocks(this.#store, { clock, prefix, ttl: '1s' }),
    ) as [Locks, Locks];
    this.own = own;
    this.other = other;
    this.locks = [
      ...[own.mutex('m0'), own.mutex('m1', { fair: true }), own.mutex('m0', { reentrant: true })],
      ...[own.rwLock('r').read, own.rwLock('r').write, own.semaphore('s', { limit: 2 })],
      ...[own.mutex('p:c'), other.mutex('c')],
      ...[own.mutex('h', { minHold: 300 }), own.mutex('b', { heartbeat: false })],
    ];
    this.controllers = [0, 1, 2, 3].map(() => new AbortController());
    this.abort(0, 0);
  }

  lock(n: number): Lock {
    return at(this.locks, n) as Lock;
  }

  signal(n: number): AbortSignal {
    return (at(this.controllers, n) as AbortController).signal;
  }

  /** Something that the program throws: it must come back as it is. */
  reason(n: number): unknown {
    const reason = REASONS[n];
    this.reasons.add(reason);
    return reason;
  }

  abort(which: number, n: number): void {
    const controller = at(this.controllers, which);
    controller?.abort(REASONS[n]);
    this.reasons.add(controller?.signal.reason);
  }

  held(lease: Lease | MultiLease): void {
    this.leases.push(...('leases' in lease ? lease.leases : [lease]));
  }

  /** Until the clock says so, or the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        this.clock.clearTimeout(timer);
        reject(signal.reason);
      });
    });
  }

  /** Until a later step says so. */
  later(): Promise<void> | undefined {
    return this.#ending ? undefined : new Promise((resolve) => this.unfinished.push(resolve));
  }

  /** Its end is waited for, and judged. */
  settles(promise?: Promise<unknown>, codes: Codes = [], pending: Pending = this.calls): void {
    if (!promise) return;
    pending.add(promise);
    promise
      .catch((error: unknown) => this.#judge(error, codes))
      .finally(() => pending.delete(promise));
  }

  take(taken: Promise<Lease | MultiLease | null>, codes: Codes = TAKING): void {
    const kept = taken.then((lease) => {
      if (lease) this.held(lease);
      return this.#ending ? lease?.release() : undefined;
    });
    this.settles(kept, codes);
  }

  closeOther(drain: number): void {
    this.#closed = true;
    this.settles(this.other.close({ drain }));
  }

  /** Time passes; then nobody may believe to hold what is not theirs in the store. */
  async rest(ms = 0): Promise<void> {
    await this.clock.advance(ms);
    for (const lease of this.leases) {
      const { held, remainingMs, state, loss } = lease;
      const alive = state === 'held' || state === 'unconfirmed';
      const lost = state === 'lost';
      if (held !== alive || held !== remainingMs > 0 || lost !== (loss !== undefined)) {
        this.#complain('a lease contradicts itself', { held, remainingMs, state, loss });
      }
      if (!held || this.evicted.has(claimOf(lease))) continue;
      const { holders } = await this.#truth.inspect(lease.resource);
      const there = holders.some(({ number }) => number === lease.token / 1024n);
      if (lease.held && !there) this.#complain(`${claimOf(lease)} is held, but not in the store`);
    }
  }

  /** Ends everything, and looks whether anything is left. */
  async end(): Promise<void> {
    await this.rest(LONG_MS / 10);
    this.#ending = true;
    this.#store.recover();
    for (const end of this.unfinished) end();
    for (const lease of this.leases) this.settles(lease.release());
    await this.rest(LONG_MS);
    if (this.calls.size > 0) this.#complain(`${this.calls.size} promises never settle`);
    const ran: string[] = [];
    const names = ['m0', 's', 'r', 'h', 'b', 'new'];
    for (const name of names) {
      this.settles(this.own.mutex(name).run(WAIT, () => void ran.push(name)));
    }
    await this.rest(LONG_MS);
    if (ran.length < names.length) this.#complain(`only ${ran.join(', ')} can be taken`);
    this.#closed = true;
    for (const locks of [this.own, this.other]) this.settles(locks.close({ drain: 0 }));
    await this.rest(LONG_MS);
    const pending = this.calls.size + this.terms.size;
    if (pending > 0) this.#complain(`${pending} promises do not settle with the close`);
    if (this.clock.timers > 0) this.#complain(`${this.clock.timers} timers are left`);
    if (this.leases.some(({ held }) => held)) this.#complain('a lease is held after the close');
    for (const { signal } of this.controllers) {
      if (getEventListeners(signal, 'abort').length > 0) this.#complain('listeners are left');
    }
    for await (const name of this.#truth.list?.('') ?? []) this.#complain(`${name} is in use`);
  }

  #judge(error: unknown, codes: Codes): void {
    if (this.reasons.has(error)) return;
    const all: Codes = [...(this.#honest ? codes : GARBLED), ...(this.#closed ? CLOSED : [])];
    const typed = error instanceof LockError && error.message !== '' && all.includes(error.code);
    if (!typed) this.#complain('an error that is not documented', error);
  }

  #complain(what: string, detail?: unknown): void {
    this.problems.push(detail === undefined ? what : `${what}: ${inspect(detail)}`);
  }
}

/** The nth, counted modulo how many there are. */
export function at<T>(all: readonly T[], n: number): T | undefined {
  return all[n % Math.max(1, all.length)];
}

/** What an eviction ends. */
export function claimOf({ resource, token }: Pick<Lease, 'resource' | 'token'>): string {
  return `${token / 1024n} of ${resource}`;
}
