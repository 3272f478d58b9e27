/** What listeners hear, in order. After `expired` or `closed` comes nothing. */
export interface SessionChange {
  readonly to: 'connected' | 'suspended' | 'reconnected' | 'expired' | 'closed';
  /** Why it was suspended, or closed without being asked to. */
  readonly cause?: Error;
  /** Who found that it has expired. */
  readonly by?: 'server' | 'clock';
}

export type SessionListener = (change: SessionChange) => void;

/** Each listener hears all changes in order, also when one of them makes the next. */
export class Changes {
  readonly #listeners = new Set<SessionListener>();
  readonly #untold: SessionChange[] = [];
  #telling = false;

  /** Answers how to stop it. */
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

  /** What a listener throws is its own affair, and must not keep the others from hearing. */
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
