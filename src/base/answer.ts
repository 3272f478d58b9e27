/**
 * A promise whose listener hears at once.
 *
 * A reply passes many layers on its way from a socket to its caller, and a promise at each of them
 * costs objects and turns of the microtasks: more than all else that a free lock costs its process.
 * So the layers hand on answers, whose listener runs in the turn of the reply. Whoever awaits one
 * gets a promise.
 * What would break it: a listener that throws, because whoever settles the answer calls it; or one
 * who settles it before its own state is in order, because the listener may call it again.
 */
export class Answer<T> implements Promise<T>, Answered<T> {
  #outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  #listener: Answered<T> | undefined;

  /** What the work returns or throws. */
  static of<T>(work: () => T): Answer<T> {
    const answer = new Answer<T>();
    answer.#read(work, undefined);
    return answer;
  }

  /** The same answer; for any other promise, one that settles as it does. */
  static from<T>(promise: PromiseLike<T>): Answer<T> {
    if (promise instanceof Answer) return promise;
    const answer = new Answer<T>();
    answer.#follow(promise);
    return answer;
  }

  get [Symbol.toStringTag](): string {
    return 'Answer';
  }

  /** Only the first outcome counts. */
  settle(value: T): void {
    if (this.#outcome) return;
    this.#outcome = { value };
    this.#listener?.settle(value);
  }

  fail(error: unknown): void {
    if (this.#outcome) return;
    this.#outcome = { error };
    this.#listener?.fail(error);
  }

  /** Takes a listener; a second one hears after the first. */
  on(listener: Answered<T>): void {
    const outcome = this.#outcome;
    if (!outcome) this.#listener = this.#listener ? both(this.#listener, listener) : listener;
    else if ('value' in outcome) listener.settle(outcome.value);
    else listener.fail(outcome.error);
  }

  /** What `read` makes of the value; what it throws fails the answer. */
  map<U>(read: (value: T) => U): Answer<U> {
    const answer = new Answer<U>();
    this.on({
      settle: (value) => answer.#read(read, value),
      fail: (error) => answer.fail(error),
    });
    return answer;
  }

  /** What `next` leads to with the value. */
  chain<U>(next: (value: T) => PromiseLike<U>): Answer<U> {
    const answer = new Answer<U>();
    this.on({
      settle: (value) => answer.#lead(next, value),
      fail: (error) => answer.fail(error),
    });
    return answer;
  }

  /** In place of a failure, what `recover` leads to. */
  or<U = T>(recover: (error: unknown) => PromiseLike<U>): Answer<T | U> {
    const answer = new Answer<T | U>();
    this.on({
      settle: (value) => answer.settle(value),
      fail: (error) => (answer as Answer<U>).#lead(recover, error),
    });
    return answer;
  }

  /** The same, after `over` was called. */
  always(over: () => void): Answer<T> {
    const answer = new Answer<T>();
    this.on({
      settle(value) {
        over();
        answer.settle(value);
      },
      fail(error) {
        over();
        answer.fail(error);
      },
    });
    return answer;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise to those who await it.
  then<A = T, B = never>(
    reply?: ((value: T) => A | PromiseLike<A>) | null,
    fail?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return new Promise<T>((settle, reject) => this.on({ settle, fail: reject })).then(reply, fail);
  }

  catch<B = never>(fail?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, fail);
  }

  finally(over?: (() => void) | null): Promise<T> {
    return this.then().finally(over);
  }

  #read<V>(read: (value: V) => T, value: V): void {
    let result: T;
    try {
      result = read(value);
    } catch (error) {
      return this.fail(error);
    }
    this.settle(result);
  }

  #lead<V>(next: (value: V) => PromiseLike<T>, value: V): void {
    let promise: PromiseLike<T>;
    try {
      promise = next(value);
    } catch (error) {
      return this.fail(error);
    }
    this.#follow(promise);
  }

  #follow(promise: PromiseLike<T>): void {
    if (promise instanceof Answer) return promise.on(this);
    promise.then(
      (value) => this.settle(value),
      (error: unknown) => this.fail(error),
    );
  }
}

/** Hears the outcome of a request. */
export interface Answered<T> {
  settle(value: T): void;
  fail(error: unknown): void;
}

function both<T>(first: Answered<T>, second: Answered<T>): Answered<T> {
  return {
    settle(value) {
      first.settle(value);
      second.settle(value);
    },
    fail(error) {
      first.fail(error);
      second.fail(error);
    },
  };
}
