/**
 * The locks that the running code holds: `run` opens a frame around its work, and all code that the
 * work calls, however asynchronously, finds the frame.
 *
 * Invariant: code is inside a frame only while the lease under it is not yet released. JavaScript
 * has no threads, so identity is the asynchronous context, and only `AsyncLocalStorage.run` sets
 * it. Nested runs enter one at a time: parallel siblings inside one holder exclude each other,
 * because each takes the frame's turn; a run nested in a sibling has a frame of its own and cannot
 * block on this one. At its end a frame waits for nested runs, then closes: code that is left
 * behind (a timer, a floating promise) still sees it, finds it closed, and is outside.
 * What would break it: `enterWith`, which leaks into siblings, or a release under an entered child.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Fifo } from '../base/fifo.ts';
import { perProcess } from '../base/per-process.ts';
import type { Store } from '../contract/store.ts';
import type { AcquireOptions } from '../core/acquire-options.ts';
import type { Lease } from '../core/lease.ts';
import { Waiter } from '../core/waiter.ts';
import { type Scope, underLease, type Work } from './lockable.ts';

let storage: AsyncLocalStorage<Frame> | undefined;

function context(): AsyncLocalStorage<Frame> {
  storage ??= perProcess('context', () => new AsyncLocalStorage<Frame>());
  return storage;
}

/**
 * The lease of the nearest `run`, `tryRun` or `locked` around the running code that has not
 * released it yet. It may be lost: then its `signal` is aborted. Undefined outside of them, under
 * a lease of `acquire`, and in code that is left behind when the work has settled, such as a timer.
 * @example
 * import { currentLease } from 'holdfast';
 *
 * await locks.mutex('report').run(async () => {
 *   currentLease()?.assertHeld(); // however deep in what the work calls
 * });
 */
export function currentLease(): Lease | undefined {
  let frame = innermost();
  while (frame && !frame.open) frame = frame.parent;
  return frame?.lease;
}

/** The innermost frame around the running code, open or not. */
export function innermost(): Frame | undefined {
  return context().getStore();
}

/** A frame around the running code may be of another copy, so what that copy reads is public. */
export class Frame implements Scope {
  readonly lease: Lease;
  readonly parent: Frame | undefined;
  /** Nested runs that wait for their turn; undefined before the first. */
  #line: Fifo<Waiter<void>> | undefined;
  /** A nested run is inside. */
  busy = false;
  #open = true;
  #closed: (() => void) | undefined;

  constructor(lease: Lease, parent?: Frame) {
    this.lease = lease;
    this.parent = parent ?? context().getStore();
  }

  /** The innermost open frame on this resource around the running code. */
  static around(store: Store, resource: string): Frame | undefined {
    let frame = context().getStore();
    while (frame && !frame.isOn(store, resource)) frame = frame.parent;
    return frame;
  }

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

  /** The work inside has neither settled nor released the lease itself. */
  get open(): boolean {
    return this.#open && this.lease.state !== 'released';
  }

  isOn(store: Store, resource: string): boolean {
    const { live } = this.lease;
    const own = live.services.calls.store === store && live.claim.resource === resource;
    return own && this.open;
  }

  inside<T>(work: () => T): T {
    return context().run(this, work);
  }

  /** Closes after the nested runs that have entered. */
  close(): Promise<void> | undefined {
    if (this.busy) {
      const left = new Promise<void>((resolve) => (this.#closed = resolve));
      return left.then(() => this.close());
    }
    this.#open = false;
    return undefined;
  }

  /** Runs nested work in turn with its siblings, on the same lease. */
  async enter<T>(options: AcquireOptions, work: Work<Lease, T>): Promise<T> {
    options.signal?.throwIfAborted();
    if (this.busy) {
      await new Promise<void>((resolve, reject) => {
        this.#line ??= new Fifo();
        const leave = (task: Waiter<void>): void => void this.#line?.remove(task);
        const parts = { subject: { spec: this.lease, leave }, options, resolve, reject };
        this.#line.push(new Waiter(this.lease.live.services, parts));
      });
    }
    this.busy = true;
    try {
      this.lease.assertHeld();
      const scopes = { scope: (lease: Lease) => new Frame(lease) };
      return await underLease(this.lease, scopes, work);
    } finally {
      const next = this.#line?.shift();
      this.busy = next !== undefined;
      if (next) next.resolve();
      else this.#closed?.();
    }
  }
}
