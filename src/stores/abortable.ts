import { afterInput } from '../patience.ts';

/**
 * The result of `work`, unless the signal comes first; then its reason is thrown. Client packages
 * have ways to connect that never end.
 */
export function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
    // What comes after the signal is nobody's.
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/**
 * Does `work` with a signal that aborts after `ms`, or with one of the others. That is what
 * `AbortSignal.any` is for, but Node 20 forgets a time-out in it when memory is cleared up, and
 * what waits for it waits for ever.
 */
export async function limited<T>(
  ms: number,
  others: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  let over = false;
  const judge = (): void => {
    if (!over) limit.abort(late);
  };
  const timer = setTimeout(() => afterInput(judge), ms).unref();
  const stops = others.map((other) => {
    const stop = (): void => limit.abort(other.reason);
    if (other.aborted) stop();
    else other.addEventListener('abort', stop, { once: true });
    return () => other.removeEventListener('abort', stop);
  });
  try {
    return await work(limit.signal);
  } finally {
    over = true;
    clearTimeout(timer);
    for (const stop of stops) stop();
  }
}
