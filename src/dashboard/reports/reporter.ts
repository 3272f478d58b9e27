/**
 * Reports what some locks do to a dashboard in another process.
 *
 * Invariant: the program never waits for it and never fails by it. An event puts a few words into
 * the outbox, which is bounded; one request at a time carries them off, out of every caller's
 * asynchronous context, and neither a timer nor an open socket keeps the process alive, but while
 * `close` sends the rest; connecting does, for a second at most. What cannot be sent is dropped and
 * counted, and the process is warned once.
 * What would break it: a wait without a bound; an error that leaves a promise.
 */
import { randomBytes } from 'node:crypto';
import { type Clock, OneTimer } from '../../base/clock.ts';
import { UsageError } from '../../base/errors.ts';
import { afterInput, detached } from '../../base/event-loop.ts';
import { checkOptions } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import type { Engine } from '../../core/engine.ts';
import { engineOf, type Locks } from '../../locks.ts';
import { checkToken } from '../auth.ts';
import { listen, processOf } from './listen.ts';
import { Outbox } from './outbox.ts';
import { type Address, post } from './post.ts';

export interface ReportOptions {
  /** Where the dashboard is mounted, such as `https://ops.example/locks/`. */
  readonly url: string | URL;
  /** The dashboard's token for reports: its option `reports`. */
  readonly token: string;
}

/** Sends reports until it is closed. */
export interface Reporter {
  /** How many reports could not be sent. */
  readonly dropped: number;
  /** Stops, after it has sent what is left; resolves within 2 s, and never rejects. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** How long reports are collected, in ms: with the most in a batch, a thousand of them a second. */
const PAUSE_MS = 500;

/** The longest pause after failures, in ms. */
const MAX_PAUSE_MS = 30_000;

/** How long a request may take, in ms. */
const REPLY_MS = 5_000;

/** After so many failures in a row, in some two minutes, the process is warned. */
const WARN_AFTER = 10;

const LATE = 'it did not answer in time';

/** How long `close` may take, in ms. */
const CLOSE_MS = 2_000;

const OPTIONS = {
  url: addressOf,
  token: checkToken,
};

/**
 * Reports what these locks do to a dashboard in another process, for its timelines and figures.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { reportTo } from 'holdfast/dashboard';
 * import { memoryStore } from 'holdfast/memory';
 *
 * const locks = createLocks(memoryStore(), { label: 'api' });
 * const token = 'of-its-option-reports';
 * const reporter = reportTo(locks, { url: 'https://ops.example/locks/', token });
 * // At the end, after `locks.close()`:
 * await reporter.close();
 *
 * @throws UsageError, ClosedError
 */
export function reportTo(locks: Locks, options: ReportOptions): Reporter {
  const engine = engineOf(locks);
  const address = checkOptions(options, OPTIONS, 'reportTo');
  engine.checkOpen();
  return new Sender(engine, address);
}

class Sender implements Reporter {
  readonly #address: Address;
  readonly #clock: Clock;
  readonly #outbox: Outbox;
  readonly #timer: OneTimer;
  readonly #stopListening: () => void;
  /** A timer is set, or its request under way. */
  #isBusy = false;
  #failures = 0;
  /** Why the last request failed. */
  #trouble: string | undefined;
  #hasWarned = false;
  #request: AbortController | undefined;
  #sending: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, address: Address) {
    this.#address = address;
    this.#clock = engine.services.clock;
    this.#timer = new OneTimer(this.#clock);
    const reporter = randomBytes(16).toString('hex');
    this.#outbox = new Outbox({ reporter, ...processOf(engine) });
    this.#stopListening = listen(engine, (report) => {
      const { dropped } = this.#outbox;
      this.#outbox.add(report, this.#clock.now());
      if (this.#outbox.dropped > dropped) {
        this.#warn(this.#trouble ?? 'more happens than can be sent');
      }
      this.#arrange();
    });
  }

  get dropped(): number {
    return this.#outbox.dropped;
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #arrange(): void {
    if (this.#isBusy || this.#closing || this.#outbox.isEmpty) return;
    this.#isBusy = true;
    const most = Math.min(PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    const pause = most * (0.75 + this.#clock.random() / 4);
    detached(() => {
      this.#timer.set(() => {
        this.#sending = this.#send().then(() => {
          this.#isBusy = false;
          this.#arrange();
        });
      }, pause);
      this.#timer.unref();
    });
  }

  /** Whether a batch has arrived. */
  async #send(): Promise<boolean> {
    const body = this.#outbox.take(this.#clock.now());
    if (body === undefined) return false;
    const request = new AbortController();
    this.#request = request;
    const limit = new OneTimer(this.#clock);
    const giveUp = (): void => request.abort(LATE);
    limit.set(() => afterInput(giveUp, this.#clock), REPLY_MS);
    limit.unref();
    try {
      const status = await post(this.#address, body, request.signal, this.#clock);
      return this.#settle(status);
    } catch (error) {
      this.#failed(request.signal.aborted ? request.signal.reason : messageOf(error));
      return false;
    } finally {
      limit.clear();
    }
  }

  #settle(status: number): boolean {
    if (status >= 200 && status < 300) {
      this.#outbox.arrived();
      this.#failures = 0;
      this.#trouble = undefined;
      return true;
    }
    this.#failed(`it answers ${status}`);
    // The same may be taken later.
    if (status >= 500 || status === 408 || status === 429) return false;
    this.#outbox.refused();
    this.#warn(`it refuses them with ${status}`);
    return false;
  }

  #failed(why: string): void {
    this.#failures += 1;
    this.#trouble = why;
    if (this.#failures >= WARN_AFTER) this.#warn(why);
  }

  async #finish(): Promise<void> {
    this.#stopListening();
    this.#timer.clear();
    let isOver = false;
    // It keeps the process alive until the rest is sent.
    const limit = new OneTimer(this.#clock);
    limit.set(() => {
      isOver = true;
      this.#request?.abort(this.#trouble ?? LATE);
    }, CLOSE_MS);
    await this.#sending;
    while (!isOver && (await this.#send()));
    limit.clear();
    if (!this.#outbox.isEmpty) this.#warn(this.#trouble ?? LATE);
    this.#outbox.clear();
  }

  #warn(why: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const message = `Reports do not reach the dashboard at ${this.#address.url.origin}: ${why}.`;
    process.emitWarning(message, { type: 'HoldfastWarning', code: 'HOLDFAST_REPORTS' });
  }
}

/** An error of several addresses has no message. */
function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || show(error);
}

/** Where it takes reports. */
function addressOf(given: string | URL, name: string): URL {
  const text = String(given);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (!url || !isHttp || url.username || url.password) {
    throw new UsageError(`${name} must be an http: or https: URL, without a password.`);
  }
  const { origin, pathname } = url;
  return new URL(`${origin}${pathname.replace(/\/?$/, '/')}events`);
}
