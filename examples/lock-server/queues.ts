/**
 * The queues of a lock server. Each verb is one step of one queue, because nothing here awaits.
 *
 * Numbers grow from claim to claim, and start from the time of day, so that they go on growing when
 * the server starts anew, and when a queue has been forgotten.
 */
import type { Clock, Queue } from 'holdfast';
import { type Claim, ClaimQueue, type ClaimStatus } from 'holdfast/store';

/** There are no hints: a waiting claim asks again after so many ms. */
const POLL_MS = 25;

export class Queues {
  readonly #maxWaiters: number;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #queues = new Map<string, ClaimQueue>();

  constructor(maxWaiters: number, clock: Pick<Clock, 'now'>) {
    this.#maxWaiters = maxWaiters;
    this.#clock = clock;
  }

  claim(claim: Claim): ClaimStatus {
    const terms = { number: BigInt(Date.now()) * 1000n, maxWaiters: this.#maxWaiters };
    return often(this.#of(claim.resource).enter(claim, this.#clock.now(), terms));
  }

  renew(claim: Claim): ClaimStatus {
    return often(this.#of(claim.resource).beat(claim, this.#clock.now()));
  }

  release(claim: Claim, afterMs: number): boolean {
    return this.#of(claim.resource).leave(claim, this.#clock.now(), afterMs);
  }

  inspect(resource: string): Queue {
    return this.#of(resource).describe(resource, this.#clock.now());
  }

  /** Forgets what no claim needs any more; to be called now and then. */
  sweep(): void {
    for (const [resource, queue] of this.#queues) {
      queue.tidy(this.#clock.now());
      if (queue.isBlank) this.#queues.delete(resource);
    }
  }

  #of(resource: string): ClaimQueue {
    const queue = this.#queues.get(resource) ?? new ClaimQueue();
    this.#queues.set(resource, queue);
    return queue;
  }
}

function often(status: ClaimStatus): ClaimStatus {
  return status.state === 'waiting' ? { ...status, retryInMs: POLL_MS } : status;
}
