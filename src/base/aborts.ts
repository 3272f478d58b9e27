/**
 * Listening to signals, and signals made from others.
 *
 * Invariant: a listener that stops is forgotten, whatever else listens and however long the signal
 * lives. When a program shuts down, one signal may end thousands of waits, so all waits here share
 * one listener of it: Node warns of more than ten, and takes time in proportion to their number to
 * remove one. A signal made from others is our own, and they abort it: `AbortSignal.any` would do
 * that, but Node never frees one that has a listener, and Node 20 loses a time-out in it to garbage
 * collection.
 * What would break it: a signal made from long-lived ones that never forgets them.
 */

/** Of one signal; a signal behind a proxy is another one than its events name. */
class AbortListeners extends Set<() => void> {
  readonly callAll = (): void => {
    // The listener before it may have removed it.
    for (const aborted of [...this]) if (this.delete(aborted)) aborted();
  };
}

const listenersOf = new WeakMap<AbortSignal, AbortListeners>();

/**
 * Calls `aborted`, a function of this caller alone, when the signal aborts; never if it has aborted
 * before. Returns the way to stop.
 */
export function onAbort(signal: AbortSignal, aborted: () => void): () => void {
  if (signal.aborted) return () => {};
  const listeners = listenersOf.get(signal) ?? new AbortListeners();
  listenersOf.set(signal, listeners);
  if (listeners.size === 0) signal.addEventListener('abort', listeners.callAll, { once: true });
  listeners.add(aborted);
  return () => {
    if (listeners.delete(aborted) && listeners.size === 0) {
      signal.removeEventListener('abort', listeners.callAll);
    }
  };
}

/** Aborts with the first of the signals, for its reason. `forget` once it is no longer needed. */
export function firstOf(signals: readonly AbortSignal[]): {
  readonly aborter: AbortController;
  readonly forget: () => void;
} {
  const aborter = new AbortController();
  const stops: (() => void)[] = [];
  const forget = (): void => {
    for (const stop of stops.splice(0)) stop();
  };
  for (const signal of signals) {
    const abort = (): void => {
      aborter.abort(signal.reason);
      forget();
    };
    if (signal.aborted) {
      abort();
      break;
    }
    stops.push(onAbort(signal, abort));
  }
  return { aborter, forget };
}
