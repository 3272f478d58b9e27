/**
 * Warns the process of waits that may never end, such as a task's for a lock that it holds itself.
 *
 * A timer for each wait would burden all that wait briefly, so one timer for all locks looks at
 * both ends of each line, and warns if a waiter that it finds there is still in the line at its
 * next look: after 30 to 60 s. All before the last have waited for longer, and the first one stays
 * where brief waits come and go behind it. It warns once per resource and process, and not where a
 * listener of `slow` knows what to do.
 */
import type { Clock, Timer } from '../base/clock.ts';
import { detached } from '../base/event-loop.ts';
import type { LocalQueue } from './local-queue.ts';
import type { OpenQueues } from './open-queues.ts';
import { SLOW_MS, type Waiter } from './waiter.ts';

export class SlowWaits {
  readonly #clock: Clock;
  readonly #queues: OpenQueues<LocalQueue>;
  #timer: Timer | undefined;
  #seen: readonly (Waiter<never> | undefined)[] = [];

  constructor(clock: Clock, queues: OpenQueues<LocalQueue>) {
    this.#clock = clock;
    this.#queues = queues;
  }

  /** Looks from now on, while there are queues. */
  start(): void {
    if (this.#timer) return;
    this.#timer = detached(() => this.#clock.setTimeout(this.#look, SLOW_MS));
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) this.#clock.clearTimeout(this.#timer);
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    const queues = this.#queues.all;
    if (queues.length > 0) this.start();
    for (const waiter of this.#seen) void waiter?.warn();
    // In a line that is stuck the first stays, in a slow one the last.
    this.#seen = queues.flatMap(({ waiters }) => {
      const line = waiters as readonly Waiter<never>[];
      return [line[0], line.at(-1)];
    });
  };
}
