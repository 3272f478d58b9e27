const DONE = Promise.resolve();

/** A class, because one is made for each claim, and a literal with a symbol is slow to make. */
export class Subscription implements Disposable, AsyncDisposable {
  readonly #end: () => void;

  constructor(end: () => void) {
    this.#end = end;
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    return DONE;
  }
}

/** To nothing. */
export const NONE: Subscription = new Subscription(() => {});
