/**
 * Notices a server that owes a reply and has given none for too long: its connection is half-open,
 * or it stands still. One timer serves all requests of a connection: a timer for each would cost
 * more than all the rest of a request. It keeps the process alive while a reply is owed, and only
 * then: the connection itself does not.
 */
import { afterInput } from '../base/event-loop.ts';

export class Silence {
  readonly #ms: number;
  readonly #tooLong: () => void;
  #owed = 0;
  /** When the last reply came, or the first request after it was written. */
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, tooLong: () => void) {
    this.#ms = ms;
    this.#tooLong = tooLong;
  }

  /** A request was written; for `quietMs` the server may reply to nothing. */
  asked(quietMs: number): void {
    if (this.#owed++ === 0) this.#since = performance.now();
    if (quietMs > 0) this.#since = Math.max(this.#since, performance.now() + quietMs);
    this.#timer ??= this.#in(this.#ms);
    this.#timer.ref();
  }

  replied(): void {
    if (--this.#owed === 0) this.#timer?.unref();
    this.#since = Math.max(this.#since, performance.now());
  }

  end(): void {
    this.#owed = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #in(ms: number): NodeJS.Timeout {
    // A pause of our own process is no silence of the server.
    const timer = setTimeout(() => afterInput(() => this.#timer === timer && this.#look()), ms);
    return timer;
  }

  #look(): void {
    this.#timer = undefined;
    if (this.#owed === 0) return;
    const left = this.#since + this.#ms - performance.now();
    if (left > 0) this.#timer = this.#in(left);
    else this.#tooLong();
  }
}
