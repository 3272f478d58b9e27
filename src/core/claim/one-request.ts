/**
 * Of the heartbeats and questions that a claim sends by itself, one is under way at a time.
 * Another that is due meanwhile follows its reply; several become one.
 */
export class OneRequest {
  #state: 'none' | 'sent' | 'again' = 'none';

  /** True if a request may leave now; else one follows the one under way. */
  begin(): boolean {
    const free = this.#state === 'none';
    this.#state = free ? 'sent' : 'again';
    return free;
  }

  /** One more is due after the one under way. */
  repeat(): void {
    this.#state = 'again';
  }

  /** The one under way is settled; true if one more is due. */
  end(): boolean {
    const again = this.#state === 'again';
    this.#state = 'none';
    return again;
  }
}
