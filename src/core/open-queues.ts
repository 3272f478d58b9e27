import type { Clock, Timer } from '../base/clock.ts';
import { detached } from '../base/event-loop.ts';
import type { Underway } from '../store-calls/release.ts';
import type { Spec } from './services.ts';
import { SLOW_MS } from './waiter.ts';

interface Warner {
  warn(): Promise<void>;
}

interface OpenQueue {
  readonly spec: Spec;
  /** It is one of the queues here. */
  isOpen: boolean;
  /** In line now, in order. */
  readonly waiters: readonly Warner[];
}

/**
 * The queues of one `Locks` that have a claim or a waiter. As nothing else sees all lines, it also
 * warns the process of waits that may never end, such as a task's for a lock that it holds itself.
 *
 * A timer for each wait would burden all that wait briefly, so one timer for all locks looks at
 * both ends of each line, and warns if a waiter that it finds there is still in the line at its
 * next look: after 30 to 60 s. All before the last have waited for longer, and the first one stays
 * where brief waits come and go behind it. It warns once per resource and process, and not where a
 * listener of `slow` knows what to do.
 */
export class OpenQueues<Q extends OpenQueue> {
  /** A queue that tasks share stands under its key, any other under itself. */
  readonly #queues = new Map<unknown, Q>();
  readonly #clock: Clock;
  readonly #underway: Underway;
  #timer: Timer | undefined;
  #seen: readonly (Warner | undefined)[] = [];

  constructor(clock: Clock, underway: Underway) {
    this.#clock = clock;
    this.#underway = underway;
  }

  get all(): readonly Q[] {
    return [...this.#queues.values()];
  }

  /** The queue in which the tasks of this process share one claim, if it is open. */
  get(key: string | undefined): Q | undefined {
    return this.#queues.get(key);
  }

  add(queue: Q): void {
    if (queue.isOpen) return;
    queue.isOpen = true;
    this.#queues.set(queue.spec.key ?? queue, queue);
    this.#underway.begin();
    this.#lookLater();
  }

  remove(queue: Q): void {
    if (!queue.isOpen) return;
    queue.isOpen = false;
    this.#queues.delete(queue.spec.key ?? queue);
    this.#underway.end();
  }

  close(): void {
    if (this.#timer) this.#clock.clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (this.#timer) return;
    this.#timer = detached(() => this.#clock.setTimeout(this.#look, SLOW_MS));
    this.#timer.unref();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    const queues = this.all;
    if (queues.length > 0) this.#lookLater();
    for (const waiter of this.#seen) void waiter?.warn();
    // In a line that is stuck the first stays, in a slow one the last.
    this.#seen = queues.flatMap(({ waiters }) => [waiters[0], waiters.at(-1)]);
  };
}
