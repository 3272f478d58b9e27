/**
 * The time limits of requests: a client that has lost its connection may be silent for ever.
 *
 * One timer serves all requests of a `Locks`, also those that wait for a batch. A client may try
 * for longer than the limit to connect, so that a request in need of a connection runs out before
 * its client says why there is none. So the error of one that runs out names the last failure of
 * the store, if it has not succeeded since, also one that came too late for its own request.
 */
import { Answer, type Answered, type Soon } from '../base/answer.ts';
import type { Clock } from '../base/clock.ts';
import { beforeThat } from '../base/errors.ts';
import { SharedTimer, type TimeLimit } from '../base/shared-timer.ts';
import { StoreError, toStoreError } from '../contract/errors.ts';
import type { Store } from '../contract/store.ts';

/** The TTL divided by this is the time limit of one request, and leaves time for the next. */
export const TRIES_PER_TTL = 3;

export class TimeLimits {
  readonly timer: SharedTimer;
  /** Why the last request with a reply failed, where that says something of other requests. */
  failure: StoreError | undefined;
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.timer = new SharedTimer(clock);
  }

  /** Asks, and waits for the reply until `ms` from now. Fails with a StoreError. */
  ask<T>(question: () => Soon<T>, ms: number): Answer<T> {
    const answer = new Answer<T>();
    this.request(answer, question, { sentAt: this.#clock.now(), ms });
    return answer;
  }

  /**
   * The same for a listener, from `sentAt` on. The outcome of a request that is late is unknown; a
   * synchronous store is never late.
   */
  request<T>(listener: Answered<T>, question: () => Soon<T>, terms: Timing): void {
    const request = new LimitedRequest<T>(this, listener, terms);
    if (!this.#store.traits.synchronous) this.timer.open(request);
    Answer.of<T>(question).on(request);
  }
}

interface Timing {
  readonly sentAt: number;
  readonly ms: number;
}

/** A request under way: its limit, and the way of its reply. */
class LimitedRequest<T> implements TimeLimit, Answered<T> {
  readonly dueAt: number;
  readonly #limits: TimeLimits;
  readonly #listener: Answered<T>;
  readonly #ms: number;
  #over = false;

  constructor(limits: TimeLimits, listener: Answered<T>, { sentAt, ms }: Timing) {
    this.dueAt = sentAt + ms;
    this.#limits = limits;
    this.#listener = listener;
    this.#ms = ms;
  }

  settle(value: T): void {
    this.#replied(failureIn(value));
    if (!this.#over) this.#listener.settle(value);
  }

  fail(error: unknown): void {
    const failure = toStoreError(error);
    this.#replied(failure);
    if (!this.#over) this.#listener.fail(failure);
  }

  late(): void {
    this.#over = true;
    const cause = this.#limits.failure;
    const before = cause ? beforeThat(cause.message) : '.';
    const message = `The store did not answer within ${Math.round(this.#ms)} ms${before}`;
    const error = new StoreError(message, { cause, retryable: true, outcome: 'unknown' });
    this.#listener.fail(error);
  }

  #replied(failure: StoreError | undefined): void {
    this.#limits.timer.delete(this);
    this.#limits.failure = failure?.retryable ? failure : undefined;
  }
}

/** The first error of a batch in which each claim has its own fate. */
function failureIn(reply: unknown): StoreError | undefined {
  try {
    if (!Array.isArray(reply)) return undefined;
    for (const status of reply) if (status.state === 'error') return toStoreError(status.error);
  } catch {
    // It is checked by the caller.
  }
  return undefined;
}
