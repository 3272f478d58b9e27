/**
 * What the running code holds, by structure: `run` opens a frame around its work, and everything
 * the work calls, however asynchronously, finds it.
 *
 * Invariant: code is inside a frame only while the lease under it is not yet released. JavaScript
 * has no threads, so identity is the asynchronous context, and only `AsyncLocalStorage.run` sets
 * it. Nested runs enter one at a time: parallel siblings inside one holder exclude each other,
 * because each takes the frame's turn; a run nested in a sibling has a frame of its own and cannot
 * block on it. At its end a frame first lets those who entered finish, then closes: what is left
 * behind (a timer, a floating promise) still sees it, finds it closed, and is a stranger.
 * What would break it: `enterWith`, which leaks into siblings, or to release under an entered
 * child.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Fifo } from '../base/fifo.ts';
import { perProcess } from '../base/per-process.ts';
import type { Kind, Store } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import { AcquireTimeoutError } from '../core/errors.ts';
import type { Lease } from '../core/lease.ts';
import type { AcquireOptions } from '../core/waiter.ts';
import { type Outlook, type Subject, Waiter } from '../core/waiter.ts';
import { underLease } from './lockable.ts';

function context(): AsyncLocalStorage<Frame> {
  return perProcess('context', () => new AsyncLocalStorage<Frame>());
}

/**
 * The innermost lease that the running code is under: that of the nearest `run`, `tryRun` or
 * `locked` around it which has not released it yet. It may be lost: its `signal` says so.
 * Undefined outside of them, under a lease that was taken by `acquire`, and in what is left behind
 * when the work has settled, such as a timer.
 * @example
 * import { currentLease } from 'holdfast';
 *
 * await locks.mutex('report').run(async () => {
 *   currentLease()?.assertHeld(); // however deep in what the work calls
 * });
 */
export function currentLease(): Lease | undefined {
  let frame = context().getStore();
  while (frame && !frame.open) frame = frame.parent;
  return frame?.lease;
}

/** One around the running code may be of another copy: what is looked at from outside is public. */
export class Frame implements Subject {
  readonly lease: Lease;
  readonly parent: Frame | undefined;
  readonly #engine: Engine;
  readonly #line = new Fifo<Waiter<void>>();
  #entered = false;
  #open = true;
  #closed: (() => void) | undefined;

  constructor(engine: Engine, lease: Lease, parent?: Frame) {
    this.#engine = engine;
    this.lease = lease;
    this.parent = parent ?? context().getStore();
  }

  /** The innermost open frame on this resource around the running code. */
  static around(store: Store, resource: string): Frame | undefined {
    let frame = context().getStore();
    while (frame && !frame.isOn(store, resource)) frame = frame.parent;
    return frame;
  }

  /** Permits of this resource held by the running code. */
  static permitsAround(store: Store, resource: string): number {
    let sum = 0;
    const seen = new Set<Lease>();
    for (let frame = context().getStore(); frame; frame = frame.parent) {
      if (!frame.isOn(store, resource) || seen.has(frame.lease)) continue;
      seen.add(frame.lease);
      sum += frame.lease.permits;
    }
    return sum;
  }

  get resource(): string {
    return this.lease.resource;
  }

  get kind(): Kind {
    return this.lease.kind;
  }

  /** The work inside has not settled, nor has it released the lease itself. */
  get open(): boolean {
    return this.#open && this.lease.state !== 'released';
  }

  /** Open, and about this resource of this store. */
  isOn(store: Store, resource: string): boolean {
    return this.#engine.services.calls.store === store && this.resource === resource && this.open;
  }

  /** A nested run is inside. */
  get busy(): boolean {
    return this.#entered;
  }

  /** Runs the work inside; then waits for those who entered, and closes. */
  async run<T>(work: () => T | PromiseLike<T>): Promise<T> {
    try {
      return await context().run(this, work);
    } finally {
      while (this.#entered) await new Promise<void>((resolve) => (this.#closed = resolve));
      this.#open = false;
    }
  }

  /** A nested run: takes its turn among its siblings, on the same lease. */
  async enter<T>(options: AcquireOptions, work: () => T | PromiseLike<T>): Promise<T> {
    options.signal?.throwIfAborted();
    if (this.#entered) {
      await new Promise<void>((resolve, reject) => {
        this.#line.push(
          new Waiter(this.#engine.services, { subject: this, options, resolve, reject }),
        );
      });
    }
    this.#entered = true;
    try {
      this.lease.assertHeld();
      const nested = new Frame(this.#engine, this.lease, this);
      return await underLease(this.lease, () => nested.run(work));
    } finally {
      const next = this.#line.shift();
      this.#entered = next !== undefined;
      if (next) next.resolve();
      else this.#closed?.();
    }
  }

  outlook(): Outlook {
    return {};
  }

  leave(task: Waiter<void>): void {
    this.#line.remove(task);
  }

  timedOut(waitedMs: number): Error {
    return new AcquireTimeoutError(this.resource, { waitedMs });
  }
}
