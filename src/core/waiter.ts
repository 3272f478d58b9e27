import { onAbort } from '../base/aborts.ts';
import type { Timer } from '../base/clock.ts';
import { parseDuration } from '../base/duration.ts';
import type { Linked } from '../base/fifo.ts';
import { perProcess } from '../base/per-process.ts';
import { type Outlook, type Waiting, waitingOf } from '../store-calls/waiting.ts';
import type { AcquireOptions } from './acquire-options.ts';
import { AcquireTimeoutError } from './errors.ts';
import type { Services, Spec } from './services.ts';

/** The lock that a wait is for, for messages and events. */
export interface Subject {
  readonly spec: Pick<Spec, 'resource' | 'kind'>;
  /** What its claim knows, if it has one. */
  outlook?(): Outlook;
  /** Leaves the line; the waiter is already settled. */
  leave(waiter: Waiter<never>): void;
}

/** A wait is worth reporting after this long, in ms. */
const LONG_MS = 1_000;

/** Longer than any intended wait, in ms. */
export const SLOW_MS = 30_000;

/** For how many resources it is remembered that the process was warned. */
const MOST_WARNED = 1_000;

/**
 * One wait in a line. Settled once: by a value, an error, its time-out or its signal. Has no timer
 * and no listener unless its options need them.
 */
export class Waiter<T> implements Linked<Waiter<T>> {
  previous: Waiter<T> | undefined;
  next: Waiter<T> | undefined;
  settled = false;
  readonly options: AcquireOptions;
  readonly tries: boolean | undefined;
  readonly #services: Services;
  readonly #subject: Subject;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;
  #forgetSignal: (() => void) | undefined;
  #waitTimer: Timer | undefined;
  #reportTimer: Timer | undefined;

  constructor(
    services: Services,
    parts: {
      readonly subject: Subject;
      readonly options: AcquireOptions;
      readonly tries?: boolean;
      readonly resolve: (value: T) => void;
      readonly reject: (error: unknown) => void;
    },
  ) {
    this.#services = services;
    this.#subject = parts.subject;
    this.#resolve = parts.resolve;
    this.#reject = parts.reject;
    this.options = parts.options;
    this.tries = parts.tries;
    services.keepAlive.add();
    const { wait, signal } = this.options;
    if (signal) {
      const aborted = (): void => this.#leave(() => this.#reject(signal.reason));
      this.#forgetSignal = onAbort(signal, aborted);
    }
    if (wait !== undefined) this.#startWait(parseDuration(wait, 'wait'));
    const { waiting, slow } = services.events.of;
    if (waiting.isThere || slow.isThere) this.#reportLater('waiting', LONG_MS);
  }

  resolve(value: T): void {
    if (this.#settle()) this.#resolve(value);
  }

  reject(error: unknown): void {
    if (this.#settle()) this.#reject(error);
  }

  /** Warns the process of a wait without an end, once for each resource. Never rejects. */
  async warn(): Promise<void> {
    const { standby, site } = this.options;
    const warned = perProcess('slow-waits', () => new Set<string>());
    const { resource } = this.#subject.spec;
    const listened = this.#services.events.of.slow.isThere;
    if (this.settled || standby || listened || warned.has(resource)) return;
    warned.add(resource);
    const [oldest = ''] = warned;
    if (warned.size > MOST_WARNED) warned.delete(oldest);
    const { message, stack } = await this.#timedOut(SLOW_MS, this.#subject.outlook?.());
    if (this.settled) {
      warned.delete(resource);
      return;
    }
    process.emitWarning(message, {
      type: 'HoldfastWarning',
      code: 'HOLDFAST_SLOW_WAIT',
      detail: site && stack,
    } as NodeJS.EmitWarningOptions);
  }

  /** Why it waits, by a look at the queue. Never rejects. */
  async #waiting(waitedMs: number, outlook: Outlook | undefined): Promise<Waiting> {
    const queue = await this.#services.calls.inspectSoon(this.#subject.spec.resource);
    return waitingOf({ ...outlook, queue, since: Date.now() - waitedMs });
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    const { clock } = this.#services;
    if (this.#waitTimer) clock.clearTimeout(this.#waitTimer);
    if (this.#reportTimer) clock.clearTimeout(this.#reportTimer);
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
      const outlook = this.#subject.outlook?.();
      const waitedMs = Math.round(clock.now() - since);
      this.#leave(async () => this.#reject(await this.#timedOut(waitedMs, outlook)));
    }, ms);
  }

  async #timedOut(waitedMs: number, outlook: Outlook | undefined): Promise<Error> {
    const waiting = await this.#waiting(waitedMs, outlook);
    const error = new AcquireTimeoutError(this.#subject.spec.resource, waitedMs, waiting);
    const stack = stackOf(this.options.site);
    // Its first line stands for the message.
    if (stack !== undefined) error.stack = stack.replace(/.*/, () => String(error));
    return error;
  }

  #reportLater(name: 'waiting' | 'slow', waitedMs: number, sinceMs = 0): void {
    const { clock, events } = this.#services;
    const report = async (): Promise<void> => {
      if (name === 'waiting') this.#reportLater('slow', SLOW_MS, LONG_MS);
      if (!events.of[name].isThere) return;
      const waiting = await this.#waiting(waitedMs, this.#subject.outlook?.());
      if (this.settled) return;
      const { resource, kind } = this.#subject.spec;
      const { acquisition } = this.options;
      const { ahead } = waiting;
      events.emit(name, { resource, kind, waitedMs, ahead, waiting, acquisition });
    };
    this.#reportTimer = clock.setTimeout(report, waitedMs - sinceMs);
    this.#reportTimer.unref();
  }
}

/** A program may have changed how stacks are made: then it is no text, or cannot be read. */
function stackOf(site: AcquireOptions['site']): string | undefined {
  try {
    const stack: unknown = site?.stack;
    return typeof stack === 'string' ? stack : undefined;
  } catch {
    return undefined;
  }
}
