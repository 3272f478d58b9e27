import type { Clock } from '../base/clock.ts';
import { EventLoop, KeepAlive } from '../base/event-loop.ts';
import { checkName } from '../base/names.ts';
import { ClosedError } from '../contract/errors.ts';
import type { Queue, Store } from '../contract/store.ts';
import { StoreCalls } from '../store-calls/store-calls.ts';
import { type Waiting, waitingOf } from '../store-calls/waiting.ts';
import { Events, noticeHeartbeat } from './events.ts';
import { Heartbeat } from './heartbeat.ts';
import { LocalQueue } from './local-queue.ts';
import { OpenQueues } from './open-queues.ts';
import type { Services, Settings, Spec } from './services.ts';

/** A queue, and what it means for a caller. */
export interface Inspection extends Queue {
  /** Why a caller that asks for all of it would wait; undefined if it is free. */
  readonly waiting: Waiting | undefined;
}

/** The parts of one `Locks`, and whether it is open. Nothing else in core knows the engine. */
export class Engine {
  readonly services: Services;
  /** Aborts when the locks begin to close: from then on callers are refused. */
  readonly closing: AbortController = new AbortController();
  readonly queues: OpenQueues<LocalQueue>;

  constructor(store: Store, clock: Clock, settings: Settings) {
    const events = new Events();
    const loop = new EventLoop(clock);
    const calls = new StoreCalls({
      store,
      clock,
      loop,
      ttlMs: settings.ttlMs,
      renewed: (outcome) => noticeHeartbeat(events, { ...outcome, store: store.name }),
    });
    const heartbeat = new Heartbeat(clock);
    const keepAlive = new KeepAlive(clock);
    this.queues = new OpenQueues(clock, calls.releases.underway);
    const entering = calls.claim;
    this.services = { calls, entering, clock, events, heartbeat, keepAlive, loop, settings };
  }

  /** The queue in which the tasks of this process share one claim, or a new queue. */
  queueFor(spec: Spec): LocalQueue {
    const { entering } = spec;
    const services = entering ? { ...this.services, entering } : this.services;
    return this.queues.get(spec.key) ?? new LocalQueue(services, spec, this.queues);
  }

  /** @throws ClosedError */
  checkOpen(): void {
    if (this.closing.signal.aborted) throw new ClosedError();
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
    const queue = await this.services.calls.inspect(resource);
    const { holders, waiters, quarantineMs } = queue;
    const free = holders.length + waiters.length === 0 && quarantineMs === undefined;
    return { ...queue, waiting: free ? undefined : waitingOf({ queue }) };
  }
}
