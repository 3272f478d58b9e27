/** Counts what is under way, and tells one listener when nothing is. */
export class Underway {
  #count = 0;
  #done: (() => void) | undefined;

  begin(): void {
    this.#count++;
  }

  end(): void {
    if (--this.#count === 0) this.#done?.();
  }

  /** Resolves when nothing is under way. */
  none(): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve;
      if (this.#count === 0) resolve();
    });
  }
}
