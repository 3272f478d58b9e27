import { StoreError, temporaryFailure } from '../../contract/errors.ts';
import type { ClaimQueue } from '../../queue/queue.ts';

/** When a step is taken, and the least number of a claim that enters then. */
export interface QueueMoment {
  readonly now: number;
  readonly number: bigint;
}

export type QueueStep<T> = (queue: ClaimQueue, moment: QueueMoment) => T;

export interface AskTerms {
  /** The claim's ttl: how long it may wait for a write, and a third of it for a request. */
  readonly ttlMs: number;
  /** Once done, it stays done: `true` in a write that got no reply counts. */
  readonly lasts?: boolean;
}

/** A verb that waits for its step to be final. */
export interface Ask extends AskTerms {
  readonly step: QueueStep<unknown>;
  readonly at: number;
  readonly nth: number;
  done?: boolean;
  /** A write of it got no reply. */
  doubtful?: boolean;
  resolve(answer: unknown): void;
  reject(error: StoreError): void;
}

/** Bounds of the time for a request, in ms. */
const SHORTEST_LIMIT_MS = 1000;
const LONGEST_LIMIT_MS = 10_000;

/** The verbs that wait for one document, in order. */
export class Asks {
  #asks: readonly Ask[] = [];
  /** How many have come so far. */
  count = 0;

  get all(): readonly Ask[] {
    return this.#asks;
  }

  get isEmpty(): boolean {
    return this.#asks.length === 0;
  }

  /** A third of the shortest TTL: one that runs out leaves time for the next. */
  get limitMs(): number {
    const third = Math.min(...this.#asks.map(({ ttlMs }) => ttlMs)) / 3;
    return Math.min(Math.max(third, SHORTEST_LIMIT_MS), LONGEST_LIMIT_MS);
  }

  add<T>(step: QueueStep<T>, terms: AskTerms, at: number): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      this.#asks = [...this.#asks, { ...terms, step, at, nth: ++this.count, resolve, reject }];
    }) as Promise<T>;
  }

  /** Their write is there. */
  answer(asks: readonly Ask[], answers: readonly unknown[]): void {
    this.#drop(asks);
    asks.forEach((ask, i) => ask.resolve(ask.done || answers[i]));
  }

  /** Their write got no reply. */
  doubt(asks: readonly Ask[], answers: readonly unknown[]): void {
    asks.forEach((ask, i) => {
      ask.doubtful = true;
      if (ask.lasts && answers[i] === true) ask.done = true;
    });
  }

  refuse(asks: readonly Ask[], error: StoreError): void {
    this.#drop(asks);
    const { message, retryable, cause } = error;
    for (const { doubtful, reject } of asks) {
      const unsure = new StoreError(message, { cause, retryable, outcome: 'unknown' });
      reject(doubtful ? unsure : error);
    }
  }

  /** What others change all the time must not be tried for ever: the caller asks again. */
  refuseOverdue(now: number, what: string): void {
    const overdue = this.#asks.filter(({ at, ttlMs }) => now - at > ttlMs);
    const message = `${what} could not be written for a whole TTL.`;
    this.refuse(overdue, temporaryFailure(message));
  }

  #drop(asks: readonly Ask[]): void {
    this.#asks = this.#asks.filter((ask) => !asks.includes(ask));
  }
}
