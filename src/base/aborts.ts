/**
 * Listening to signals, and signals made from others.
 *
 * Invariant: a listener that stops is forgotten, whatever else listens and however long the signal
 * lives. One signal may end thousands of waits, such as that of a program that shuts down, so all
 * waits here share one listener of it: Node warns of more than ten, and takes time in proportion to
 * their number to remove one. A signal made from others is one of our own that they abort:
 * `AbortSignal.any` would do that, but Node never frees one that has a listener, and Node 20 loses
 * a time-out in it to garbage collection.
 * What would break it: a signal made from long-lived ones that never forgets them.
 */

/** The listeners of one signal. */
class AbortListeners {
  readonly #signal: AbortSignal;
  readonly #aborted = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(aborted: () => void): void {
    if (this.#aborted.size === 0) this.#signal.addEventListener('abort', this.#callAll);
    this.#aborted.add(aborted);
  }

  remove(aborted: () => void): void {
    if (!this.#aborted.delete(aborted) || this.#aborted.size > 0) return;
    this.#signal.removeEventListener('abort', this.#callAll);
  }

  readonly #callAll = (): void => {
    for (const aborted of [...this.#aborted]) {
      // The listener before it may have removed it.
      if (!this.#aborted.has(aborted)) continue;
      this.remove(aborted);
      aborted();
    }
  };
}

const audiences = new WeakMap<AbortSignal, AbortListeners>();

/**
 * Calls `aborted`, a function of this caller alone, when the signal aborts; never if it has aborted
 * before. Returns the way to stop.
 */
export function onAbort(signal: AbortSignal, aborted: () => void): () => void {
  if (signal.aborted) return () => {};
  const audience = audiences.get(signal) ?? new AbortListeners(signal);
  audiences.set(signal, audience);
  audience.add(aborted);
  return () => audience.remove(aborted);
}

/** Aborts with the first of the signals, for its reason. `forget` once it is no longer needed. */
export interface FirstOf {
  readonly aborter: AbortController;
  readonly forget: () => void;
}

export function firstOf(signals: readonly AbortSignal[]): FirstOf {
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
