import { once } from 'node:events';

/**
 * The result of `work`, unless the signal comes first; then its reason is thrown. Client packages
 * have ways to connect that never end.
 */
export async function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // What comes after the signal is nobody's.
  work.catch(() => {});
  signal.throwIfAborted();
  const done = new AbortController();
  const aborted = once(signal, 'abort', { signal: done.signal });
  try {
    return await Promise.race([work, aborted.then(() => Promise.reject(signal.reason))]);
  } finally {
    done.abort();
  }
}
