/**
 * The time limits of requests: a client that has lost its connection may be silent for ever.
 *
 * One timer serves all requests of a `Locks`: it runs until the first of those is due that were
 * under way when it was set. A timer for each would cost more than all else here does. A client may
 * try for longer than the limit to connect, so that a request in need of a connection runs out
 * before its client says why there is none. So the error of one that runs out names the last
 * failure of the store, if it has not succeeded since, also one that came too late for its own
 * request.
 */
import { Answer } from '../base/answer.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { beforeThat } from '../base/errors.ts';
import { afterInput, detached } from '../base/event-loop.ts';
import { StoreError, toStoreError } from '../contract/errors.ts';
import type { Store } from '../contract/store.ts';

/** The time limit of one request is the TTL divided by this: three tries fit into one life. */
export const TRIES_PER_TTL = 3;

interface LimitedRequest {
  readonly ms: number;
  readonly dueAt: number;
  fail(error: StoreError): void;
}

export class TimeLimits {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #open = new Set<LimitedRequest>();
  #timer: Timer | undefined;
  #firesAt = Number.POSITIVE_INFINITY;
  /** Why the last request with a reply failed, where that says something of other requests. */
  #failure: StoreError | undefined;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Asks, and waits for the reply until `ms` after `sentAt`: then the outcome is unknown. A store
   * that is synchronous cannot be late.
   */
  ask<T>(
    question: () => T | PromiseLike<T>,
    { ms, sentAt }: { readonly ms: number; readonly sentAt: number },
    answered: { settle(value: T): void; fail(error: StoreError): void },
  ): void {
    const request = { ms, dueAt: sentAt + ms, fail: (error: StoreError) => answered.fail(error) };
    this.#open.add(request);
    if (request.dueAt < this.#firesAt && !this.#store.traits.synchronous) this.#arm(request.dueAt);
    answerTo(question).on({
      settle: (value) => {
        if (this.#settle(request, failureIn(value))) answered.settle(value);
      },
      fail: (error) => {
        if (this.#settle(request, error)) answered.fail(toStoreError(error));
      },
    });
  }

  /** The same as a promise. */
  answer<T>(question: () => T | PromiseLike<T>, ms: number): Promise<T> {
    const times = { ms, sentAt: this.#clock.now() };
    return new Promise((settle, fail) => this.ask(question, times, { settle, fail }));
  }

  /** Leaves no timer behind, unless a reply is still due. */
  close(): void {
    if (!this.#timer || this.#open.size > 0) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#firesAt = Number.POSITIVE_INFINITY;
  }

  /** False if it has run out. */
  #settle(request: LimitedRequest, failure: unknown): boolean {
    const error = failure === undefined ? undefined : toStoreError(failure);
    this.#failure = error?.retryable ? error : undefined;
    return this.#open.delete(request);
  }

  #arm(at: number): void {
    const clock = this.#clock;
    if (this.#timer) clock.clearTimeout(this.#timer);
    this.#firesAt = at;
    const ms = Math.max(0, at - clock.now());
    this.#timer = detached(() => clock.setTimeout(() => afterInput(this.#look, clock), ms));
    this.#timer.unref();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    this.#firesAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    const late = [...this.#open].filter(({ dueAt }) => dueAt <= now);
    for (const request of late) this.#open.delete(request);
    const next = Math.min(...[...this.#open].map(({ dueAt }) => dueAt));
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
    for (const request of late) request.fail(this.#lateness(request));
  };

  #lateness({ ms }: LimitedRequest): StoreError {
    const cause = this.#failure;
    const before = cause ? beforeThat(cause.message) : '.';
    const message = `The store did not answer within ${Math.round(ms)} ms${before}`;
    return new StoreError(message, { cause, retryable: true, outcome: 'unknown' });
  }
}

/** A question that throws is one that rejects. */
function answerTo<T>(question: () => T | PromiseLike<T>): Answer<T> {
  try {
    const answer = question();
    return answer instanceof Answer ? answer : Answer.from(Promise.resolve(answer) as Promise<T>);
  } catch (error) {
    return Answer.from<T>(Promise.reject(error));
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
