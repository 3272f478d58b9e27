/** What listeners get, in order. `expired` or `closed` comes last. */
export interface SessionChange {
  readonly to: 'connected' | 'suspended' | 'reconnected' | 'expired' | 'closed';
  /** Why it was suspended, or closed by itself. */
  readonly cause?: Error;
  /** Which side found it expired. */
  readonly by?: 'server' | 'clock';
}

export type SessionListener = (change: SessionChange) => void;

/** Each listener gets all changes in order, even if one of them causes the next. */
export class Changes {
  readonly #listeners = new Set<SessionListener>();
  readonly #untold: SessionChange[] = [];
  #telling = false;

  /** Returns how to stop it. */
  listen(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(change: SessionChange): void {
    this.#untold.push(change);
    if (this.#telling) return;
    this.#telling = true;
    for (let next = this.#untold.shift(); next; next = this.#untold.shift()) {
      for (const listener of this.#listeners) this.#tellOne(listener, next);
    }
    this.#telling = false;
  }

  /** An exception of one listener must not keep the others from being called. */
  #tellOne(listener: SessionListener, change: SessionChange): void {
    try {
      listener(change);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
