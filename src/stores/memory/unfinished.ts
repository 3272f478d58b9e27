import type { ClaimQueue } from './claim-queue.ts';

/** Endings that are remembered although nobody is in the queue. */
const MAX_UNFINISHED = 1_000;

/** Queues without claims, of which the next to come should know how the last hold ended. */
export class Unfinished {
  readonly #queues = new Set<ClaimQueue>();

  /** Where there are too many, the oldest is let go. */
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
