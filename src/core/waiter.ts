import { onAbort } from '../base/aborts.ts';
import type { Timer } from '../base/clock.ts';
import { type Duration, duration, parseDuration } from '../base/duration.ts';
import { UsageError } from '../base/errors.ts';
import type { Linked } from '../base/fifo.ts';
import { asGiven, type Checks, checkOptions, text } from '../base/options.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Kind } from '../contract/store.ts';
import type { Acquisition } from './events.ts';
import type { Services } from './services.ts';

/** The state of a wait. */
export interface Outlook {
  /** Claims before this one, if known. */
  readonly ahead?: number | undefined;
  /** Why the last request to the store failed. */
  readonly failure?: StoreError | undefined;
}

/** The lock that a wait is for, for messages and events. */
export interface Subject {
  readonly resource: string;
  readonly kind: Kind;
  outlook(): Outlook;
  /** Leaves the line; the waiter is already settled. */
  leave(waiter: Waiter<never>): void;
  /** The error of a wait that has run out. */
  timedOut(waitedMs: number, outlook: Outlook): Promise<Error> | Error;
}

/** Report a wait as slow after this long, in ms: longer than any intended wait. */
const SLOW_MS = 30_000;

/**
 * One wait in a line. Settled once: by a value, an error, its time-out or its signal. Has no timer
 * and no listener unless its options need them.
 */
export class Waiter<T> implements Linked<Waiter<T>> {
  previous: Waiter<T> | undefined;
  next: Waiter<T> | undefined;
  settled = false;
  readonly options: AcquireOptions;
  readonly #services: Services;
  readonly #subject: Subject;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;
  #forgetSignal: (() => void) | undefined;
  #waitTimer: Timer | undefined;
  #slowTimer: Timer | undefined;

  constructor(
    services: Services,
    parts: {
      readonly subject: Subject;
      readonly options: AcquireOptions;
      readonly resolve: (value: T) => void;
      readonly reject: (error: unknown) => void;
    },
  ) {
    this.#services = services;
    this.#subject = parts.subject;
    this.#resolve = parts.resolve;
    this.#reject = parts.reject;
    this.options = parts.options;
    services.keepAlive.add();
    const { wait, signal } = this.options;
    if (signal) {
      const aborted = (): void => this.#leave(() => this.#reject(signal.reason));
      this.#forgetSignal = onAbort(signal, aborted);
    }
    if (wait !== undefined) this.#startWait(parseDuration(wait, 'wait'));
    if (services.events.of.slow.isThere) this.#startSlow();
  }

  resolve(value: T): void {
    if (this.#settle()) this.#resolve(value);
  }

  reject(error: unknown): void {
    if (this.#settle()) this.#reject(error);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    const { clock } = this.#services;
    if (this.#waitTimer) clock.clearTimeout(this.#waitTimer);
    if (this.#slowTimer) clock.clearTimeout(this.#slowTimer);
    this.#forgetSignal?.();
    this.#services.keepAlive.remove();
    return true;
  }

  #leave(reject: () => void): void {
    if (!this.#settle()) return;
    this.#subject.leave(this as Waiter<never>);
    reject();
  }

  #startWait(ms: number): void {
    const { clock } = this.#services;
    const since = clock.now();
    this.#waitTimer = clock.setTimeout(() => {
      const outlook = this.#subject.outlook();
      const waitedMs = clock.now() - since;
      this.#leave(async () => this.#reject(await this.#subject.timedOut(waitedMs, outlook)));
    }, ms);
  }

  #startSlow(): void {
    const { clock, events } = this.#services;
    const { resource, kind } = this.#subject;
    const timer = clock.setTimeout(() => {
      const { ahead } = this.#subject.outlook();
      events.emit('slow', { resource, kind, waitedMs: SLOW_MS, ahead });
    }, SLOW_MS);
    timer.unref();
    this.#slowTimer = timer;
  }
}

/** Options of a single acquisition. */
export interface AcquireOptions {
  /**
   * Give up after this long, with `AcquireTimeoutError`. Default: wait until granted or aborted.
   */
  readonly wait?: Duration;
  /** Ends the wait; it rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
  /** Semaphores only: permits to take; default 1. */
  readonly permits?: number;
  /** Shown to people who inspect the queue; default the label of `createLocks`. */
  readonly label?: string;
  /** @internal Set while there are listeners. */
  readonly acquisition?: Acquisition;
}

type Acquiring = Pick<AcquireOptions, 'wait' | 'signal' | 'label'>;

export const ACQUISITION: Checks<Acquiring, keyof Acquiring> = {
  wait: duration(),
  signal: checkSignal,
  label: text,
};

const ACQUIRE = { ...ACQUISITION, permits: asGiven<number | undefined> };

/** No options: reading them would take a tenth of a hand-off's time. */
export const NO_OPTIONS: AcquireOptions = Object.freeze({});

/** @throws UsageError for wrong options. */
export function readAcquire(options: AcquireOptions): AcquireOptions {
  if (options === NO_OPTIONS) return options;
  type Public = Omit<AcquireOptions, 'acquisition'>;
  return checkOptions<Public, typeof ACQUIRE>(options, ACQUIRE, 'an acquisition');
}

export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  throw new UsageError('signal must be an AbortSignal.');
}
