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
