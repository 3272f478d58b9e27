import { firstOf, onAbort } from '../base/aborts.ts';
import { afterInput } from '../base/event-loop.ts';

/** As `work`, but rejects with the signal's reason first: some ways to connect never end. */
export function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    if (signal.aborted) aborted();
    const forget = onAbort(signal, aborted);
    // After the signal, the result of `work` is dropped.
    work.then(resolve, reject).finally(forget);
  });
}

/** Does the first work of a new connection, and ends it if that fails, or the signal aborts. */
export async function first<T>(
  connection: { end(): void },
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await abortable(signal, work());
  } catch (error) {
    connection.end();
    throw error;
  }
}

/** Runs `work` with a signal that aborts after `ms`, or with one of the others. */
export async function limited<T>(
  ms: number,
  others: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { aborter, forget } = firstOf(others);
  const late = new DOMException(`timeout: no answer within ${Math.round(ms)} ms`, 'TimeoutError');
  let over = false;
  const judge = (): void => {
    if (!over) aborter.abort(late);
  };
  const timer = setTimeout(() => afterInput(judge), ms).unref();
  try {
    return await work(aborter.signal);
  } finally {
    over = true;
    clearTimeout(timer);
    forget();
  }
}
