/**
 * A promise that its listeners hear at once.
 *
 * A reply passes many layers on its way from a socket to its caller, and a promise at each of them
 * costs objects and turns of the microtasks: more than all else that a free lock costs its process.
 * So the layers hand on answers, whose listeners run in the turn of the reply, in their order.
 * An `await` of one makes a promise. A failure without a listener is reported, as of any promise.
 * What would break it: a listener that throws, because the code that settles the answer calls it;
 * or code that settles it before its own state is in order, because the listener may call it again.
 */
export class Answer<T> implements Promise<T>, Answered<T> {
  #outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  #listener: Answered<T> | undefined;
  /** All but the first: most answers have one. */
  #others: Answered<T>[] | undefined;
  #unheard: Promise<never> | undefined;

  /** What the work returns, leads to or throws. */
  static of<T>(work: () => Soon<T>): Answer<T> {
    const answer = new Answer<T>();
    try {
      const result = work();
      if (result instanceof Answer) return result;
      answer.#follow(result);
    } catch (error) {
      answer.fail(error);
    }
    return answer;
  }

  /** The same answer; for any other promise, one that settles as it does. */
  static from<T>(promise: PromiseLike<T>): Answer<T> {
    return Answer.of<T>(() => promise);
  }

  /** All values, in order; or the failure of the first that failed, once all are settled. */
  static all<T>(answers: readonly Answer<T>[]): Answer<T[]> {
    const all = new Answer<T[]>();
    let open = answers.length + 1;
    const over = (): void => {
      if (--open === 0) all.#lead(() => answers.map((answer) => answer.#value()), undefined);
    };
    for (const answer of answers) answer.on({ settle: over, fail: over });
    over();
    return all;
  }

  get [Symbol.toStringTag](): string {
    return 'Answer';
  }

  /** Only the first outcome counts. */
  settle(value: T): void {
    if (this.#outcome) return;
    this.#outcome = { value };
    this.#listener?.settle(value);
    if (this.#others) for (const other of this.#others) other.settle(value);
  }

  fail(error: unknown): void {
    if (this.#outcome) return;
    this.#outcome = { error };
    if (!this.#listener) this.#unheard = Promise.reject(error);
    this.#listener?.fail(error);
    if (this.#others) for (const other of this.#others) other.fail(error);
  }

  /** Calls the listener when it is settled; at once if it is. */
  on(listener: Answered<T>): void {
    const outcome = this.#outcome;
    if (outcome && 'value' in outcome) listener.settle(outcome.value);
    else if (outcome) {
      this.#unheard?.catch(() => {});
      listener.fail(outcome.error);
    } else if (!this.#listener) this.#listener = listener;
    else if (this.#others) this.#others.push(listener);
    else this.#others = [listener];
  }

  /** What `read` makes of the value; what it throws fails the answer. */
  map<U>(read: (value: T) => U): Answer<U> {
    return this.chain<U>(read);
  }

  /** What `next` makes of the value or leads to; what it throws fails the answer. */
  chain<U>(next: (value: T) => Soon<U>): Answer<U> {
    const answer = new Answer<U>();
    this.on({ settle: (value) => answer.#lead(next, value), fail: (error) => answer.fail(error) });
    return answer;
  }

  /** In place of a failure, what `recover` makes of it, leads to or throws. */
  or<U = T>(recover: (error: unknown) => Soon<U>): Answer<T | U> {
    const answer = new Answer<T | U>();
    this.on({
      settle: (value) => answer.settle(value),
      fail: (error) => answer.#lead(recover, error),
    });
    return answer;
  }

  /** The same, after `over` was called. */
  always(over: () => void): Answer<T> {
    const answer = new Answer<T>();
    this.on({ settle: over, fail: over });
    this.on(answer);
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

  /** Of one that is settled. */
  #value(): T {
    const outcome = this.#outcome;
    if (outcome && 'value' in outcome) return outcome.value;
    throw outcome?.error;
  }

  #lead<V>(work: (given: V) => Soon<T>, given: V): void {
    let result: Soon<T>;
    try {
      result = work(given);
    } catch (error) {
      return this.fail(error);
    }
    this.#follow(result);
  }

  #follow(result: Soon<T>): void {
    if (result instanceof Answer) result.on(this);
    else if (!isThenable(result)) this.settle(result);
    else {
      result.then(
        (value) => this.settle(value),
        (error: unknown) => this.fail(error),
      );
    }
  }
}

/** There is nothing to wait for. */
export const DONE: Promise<void> = Promise.resolve();

/** A value at once, or one that is to come. */
export type Soon<T> = T | PromiseLike<T>;

export function isThenable<T>(result: Soon<T>): result is PromiseLike<T> {
  return typeof (result as Partial<PromiseLike<T>> | undefined | null)?.then === 'function';
}

/** What `next` makes of the value, or leads to or throws; at once if the value is there. */
export function follow<T, U>(given: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return isThenable(given) ? Answer.from(given).chain(next) : next(given);
}

/** Hears the outcome of a request. */
export interface Answered<T> {
  settle(value: T): void;
  fail(error: unknown): void;
}
