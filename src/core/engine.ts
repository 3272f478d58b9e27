import type { Clock } from '../base/clock.ts';
import { EventLoop, KeepAlive } from '../base/event-loop.ts';
import { checkName } from '../base/names.ts';
import { ClosedError, toStoreError } from '../contract/errors.ts';
import type { Queue, Store } from '../contract/store.ts';
import { Looks } from '../store-calls/looks.ts';
import { StoreCalls } from '../store-calls/store-calls.ts';
import { type Waiting, waitingOf } from '../store-calls/waiting.ts';
import { Events, noticeHeartbeat } from './events.ts';
import { Heartbeat } from './heartbeat.ts';
import { LocalQueue, type Registry } from './local-queue.ts';
import type { Services, Settings } from './services.ts';
import { SlowWaits } from './slow-waits.ts';
import type { Spec } from './spec.ts';

/** A queue, and what it means for a caller. */
export interface Inspection extends Queue {
  /** Why a caller that asks for all of it would wait; undefined if it is free. */
  readonly waiting: Waiting | undefined;
}

/** The queues of one `Locks` by key, and whether it is open. Nothing else in core knows it. */
export class Engine implements Registry {
  readonly services: Services;
  /** Closed together with the locks: candidates that stand or lead, and observers. */
  readonly closables: Set<{ close(): void }> = new Set();
  /** Every queue of this process with a claim or a waiter in it. */
  readonly #queues = new Set<LocalQueue>();
  readonly #shared = new Map<string, LocalQueue>();
  readonly #slowWaits: SlowWaits;
  #onIdle: (() => void)[] = [];
  #closed = false;

  constructor(store: Store, clock: Clock, settings: Settings) {
    const events = new Events();
    const loop = new EventLoop(clock);
    const calls = new StoreCalls({
      store,
      clock,
      loop,
      ttlMs: settings.ttlMs,
      renewed: (outcome) => noticeHeartbeat(events, { ...outcome, store: store.name }),
      idle: () => this.#checkIdle(),
    });
    const heartbeat = new Heartbeat(clock);
    const keepAlive = new KeepAlive(clock);
    const looks = new Looks(calls);
    this.#slowWaits = new SlowWaits(clock, this.#queues);
    this.services = { calls, clock, events, heartbeat, keepAlive, looks, loop, settings };
  }

  get queues(): ReadonlySet<LocalQueue> {
    return this.#queues;
  }

  /** The queue in which the tasks of this process share one claim, or a new queue. */
  queueFor(spec: Spec): LocalQueue {
    if (!spec.shared) return new LocalQueue(this.services, spec, this);
    let queue = this.#shared.get(spec.key);
    if (!queue) {
      queue = new LocalQueue(this.services, spec, this);
      this.#shared.set(spec.key, queue);
    }
    return queue;
  }

  add(queue: LocalQueue): void {
    this.#queues.add(queue);
    this.#slowWaits.start();
  }

  remove(queue: LocalQueue): void {
    this.#queues.delete(queue);
    const { shared, key } = queue.spec;
    if (shared && this.#shared.get(key) === queue) this.#shared.delete(key);
    this.#checkIdle();
  }

  /** @throws ClosedError */
  checkOpen(): void {
    if (this.#closed) throw new ClosedError();
  }

  /** The full name. @throws UsageError */
  resource(name: string): string {
    return this.services.settings.prefix + checkName(name);
  }

  /**
   * The queue of a resource, with numbers as the tokens of leases.
   * @throws ClosedError, StoreError
   */
  async inspect(resource: string): Promise<Inspection> {
    this.checkOpen();
    const queue = await this.services.looks.inspect(resource);
    const { holders, waiters, quarantineMs } = queue;
    const free = holders.length + waiters.length === 0 && quarantineMs === undefined;
    return { ...queue, waiting: free ? undefined : waitingOf({ queue }) };
  }

  /** Refuses callers from now on. */
  refuse(): void {
    this.#closed = true;
  }

  /** Resolves when no claim is left and no release is under way. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
      this.#checkIdle();
    });
  }

  #checkIdle(): void {
    if (this.#queues.size > 0 || this.services.calls.releases.underWay > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  async closeStore(last: boolean): Promise<void> {
    const { calls, heartbeat, keepAlive } = this.services;
    calls.releases.close();
    heartbeat.close();
    keepAlive.close();
    this.#slowWaits.stop();
    if (!last) return;
    try {
      await calls.store.close?.();
    } catch (error) {
      throw toStoreError(error);
    }
  }
}
