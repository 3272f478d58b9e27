/**
 * The time limit of a request: a client that has lost its connection may be silent for ever.
 *
 * A client may try for longer than the limit to connect, so that a request in need of a connection
 * runs out before its client says why there is none. So the error of one that runs out names the
 * last failure of the store, if it has not succeeded since, also one that came too late for its own
 * request.
 */
import type { Clock } from '../base/clock.ts';
import { beforeThat } from '../base/errors.ts';
import { afterInput } from '../base/event-loop.ts';
import { StoreError, toStoreError } from '../contract/errors.ts';
import type { Store } from '../contract/store.ts';

/** The time limit of one request is the TTL divided by this: three tries fit into one life. */
export const TRIES_PER_TTL = 3;

/** Why the last request with a reply failed, where that says something of other requests. */
const failures = new WeakMap<Store, StoreError | undefined>();

/** The store's reply, or, if none has come within `ms`, a `StoreError` with an unknown outcome. */
export function answerWithin<T>(
  ms: number,
  { clock, store }: { readonly clock: Clock; readonly store: Store },
  answer: Promise<T>,
): Promise<T> {
  if (store.traits.synchronous) return answer;
  return new Promise((resolve, reject) => {
    const late = (): void => {
      const cause = failures.get(store);
      const before = cause ? beforeThat(cause.message) : '.';
      const message = `The store did not answer within ${Math.round(ms)} ms${before}`;
      reject(new StoreError(message, { cause, retryable: true, outcome: 'unknown' }));
    };
    const timer = clock.setTimeout(() => afterInput(late, clock), ms);
    timer.unref();
    const over = (failure: unknown): void => {
      clock.clearTimeout(timer);
      const error = failure === undefined ? undefined : toStoreError(failure);
      failures.set(store, error?.retryable ? error : undefined);
    };
    Promise.resolve(answer).then(
      (value) => {
        over(failureIn(value));
        resolve(value);
      },
      (error: unknown) => {
        over(error);
        reject(error);
      },
    );
  });
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
