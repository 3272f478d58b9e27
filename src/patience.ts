import type { Clock } from './clock.ts';
import { StoreError } from './errors.ts';
import type { Traits } from './store.ts';

/** Patience with one request, as a share of its TTL: three tries fit into one life. */
export const TRIES_PER_TTL = 3;

/**
 * Runs `judge` after everything that has arrived by now was read. Timers run before input: when the
 * process stood still, a timer would take for unanswered what has its answer in the socket. So each
 * timer that ends a request or a connection for want of an answer asks through this.
 */
export function afterInput(
  judge: () => void,
  clock: Pick<Clock, 'setImmediate'> = { setImmediate },
): void {
  clock.setImmediate(judge);
}

/**
 * The store's answer, or, when it has not come within `ms`, a `StoreError` with an unknown outcome:
 * a client that has lost its connection may be silent for ever.
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
