import type { ClaimQueue } from '../../queue/queue.ts';

/** How many endings are remembered for queues without claims. */
const MAX_ENDINGS = 1000;

/**
 * Queues without claims that have something to tell the next one: how the last hold ended, a
 * record, a tombstone. They go when that is over; of endings, the oldest.
 */
export class IdleQueues {
  readonly #queues: Map<string, ClaimQueue>;
  /** In the order in which they became idle; some are in use again. */
  readonly #names = new Set<string>();
  #sweepAt = MAX_ENDINGS;

  constructor(queues: Map<string, ClaimQueue>) {
    this.#queues = queues;
  }

  add(name: string, now: number): void {
    this.#names.delete(name);
    this.#names.add(name);
    if (this.#names.size > this.#sweepAt) this.#sweep(now);
  }

  clear(): void {
    this.#names.clear();
  }

  /** Looks at no more than twice as many queues as have become idle since the last sweep. */
  #sweep(now: number): void {
    let endings = 0;
    for (const name of [...this.#names].reverse()) {
      const queue = this.#queues.get(name);
      // To look at one in use would bury its dead: the next claim would not learn how they ended.
      const idle = queue?.size === 0 ? queue : undefined;
      idle?.tidy(now);
      if (idle?.unfinished && ++endings > MAX_ENDINGS) idle.forgetEnding();
      if (idle?.isBlank) this.#queues.delete(name);
      if (!idle || idle.isBlank) this.#names.delete(name);
    }
    this.#sweepAt = Math.max(MAX_ENDINGS, 2 * this.#names.size);
  }
}
