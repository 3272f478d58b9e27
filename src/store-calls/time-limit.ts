import type { Clock } from '../base/clock.ts';
import { afterInput } from '../base/event-loop.ts';
import { StoreError } from '../contract/errors.ts';
import type { Traits } from '../contract/store.ts';

/** The time limit of one request is the TTL divided by this: three tries fit into one life. */
export const TRIES_PER_TTL = 3;

/**
 * The store's reply, or, if none has come within `ms`, a `StoreError` with an unknown outcome: a
 * client that has lost its connection may be silent for ever.
 */
export function answerWithin<T>(
  ms: number,
  { clock, traits }: { readonly clock: Clock; readonly traits: Traits },
  answer: Promise<T>,
): Promise<T> {
  if (traits.synchronous) return answer;
  return new Promise((resolve, reject) => {
    const late = (): void => {
      const message = `The store did not answer within ${Math.round(ms)} ms.`;
      reject(new StoreError(message, { retryable: true, outcome: 'unknown' }));
    };
    const timer = clock.setTimeout(() => afterInput(late, clock), ms);
    timer.unref();
    Promise.resolve(answer).then(
      (value) => {
        clock.clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clock.clearTimeout(timer);
        reject(error);
      },
    );
  });
}
