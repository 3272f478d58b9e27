/**
 * The time limits of requests: a client that has lost its connection may be silent for ever.
 *
 * One timer serves all requests of a `Locks`, also those that wait for a batch. A client may try
 * for longer than the limit to connect, so that a request in need of a connection runs out before
 * its client says why there is none. So the error of one that runs out names the last failure of
 * the store, if it has not succeeded since, also one that came too late for its own request.
 */
import { Answer, type Soon } from '../base/answer.ts';
import type { Clock } from '../base/clock.ts';
import { beforeThat } from '../base/errors.ts';
import { SharedTimer, type TimeLimit } from '../base/shared-timer.ts';
import { StoreError, toStoreError } from '../contract/errors.ts';
import type { Store } from '../contract/store.ts';

/** The time limit of one request is the TTL divided by this: three tries fit into one life. */
export const TRIES_PER_TTL = 3;

export class TimeLimits {
  readonly timer: SharedTimer;
  readonly #store: Store;
  readonly #clock: Clock;
  /** Why the last request with a reply failed, where that says something of other requests. */
  #failure: StoreError | undefined;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.timer = new SharedTimer(clock);
  }

  /**
   * Asks, and waits for the reply until `ms` after `sentAt`: then the outcome is unknown. A store
   * that is synchronous cannot be late. Fails with a StoreError.
   */
  ask<T>(question: () => Soon<T>, ms: number, sentAt: number = this.#clock.now()): Answer<T> {
    const answer = new Answer<T>();
    const dueAt = this.#store.traits.synchronous ? Number.POSITIVE_INFINITY : sentAt + ms;
    const limit = this.timer.add(dueAt, () => answer.fail(this.#lateness(ms)));
    Answer.of<T>(question).on({
      settle: (value) => {
        this.#replied(limit, failureIn(value));
        answer.settle(value);
      },
      fail: (error) => {
        this.#replied(limit, error);
        answer.fail(toStoreError(error));
      },
    });
    return answer;
  }

  #replied(limit: TimeLimit, failure: unknown): void {
    this.timer.delete(limit);
    const error = failure === undefined ? undefined : toStoreError(failure);
    this.#failure = error?.retryable ? error : undefined;
  }

  #lateness(ms: number): StoreError {
    const cause = this.#failure;
    const before = cause ? beforeThat(cause.message) : '.';
    const message = `The store did not answer within ${Math.round(ms)} ms${before}`;
    return new StoreError(message, { cause, retryable: true, outcome: 'unknown' });
  }
}

/** The first error of a batch in which each claim has its own fate. */
function failureIn(reply: unknown): unknown {
  try {
    if (Array.isArray(reply)) return reply.find((status) => status.state === 'error')?.error;
  } catch {
    // It is checked by the caller.
  }
  return undefined;
}
