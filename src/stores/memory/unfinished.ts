import type { ClaimQueue } from './claim-queue.ts';

/** How many endings are remembered for empty queues. */
const MAX_UNFINISHED = 1_000;

/** Queues without claims, whose next claim should learn how the last hold ended. */
export class Unfinished {
  readonly #queues = new Set<ClaimQueue>();

  /** Lets the oldest go if there are too many. */
  add(queue: ClaimQueue, letGo: (oldest: ClaimQueue) => void): void {
    this.#queues.delete(queue);
    this.#queues.add(queue);
    const [oldest] = this.#queues;
    if (this.#queues.size <= MAX_UNFINISHED || !oldest) return;
    oldest.unfinished = undefined;
    this.#queues.delete(oldest);
    letGo(oldest);
  }

  delete(queue: ClaimQueue): void {
    this.#queues.delete(queue);
  }

  clear(): void {
    this.#queues.clear();
  }
}
