/** Counts what is under way, and tells when nothing is. */
export class Underway {
  #count = 0;
  #waiting: (() => void)[] = [];

  begin(): void {
    this.#count++;
  }

  end(): void {
    if (--this.#count > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when nothing is under way. */
  none(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
