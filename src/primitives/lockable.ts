/**
 * What one lock and several have in common: the ways to take them, and the work that `run` does
 * under the lease.
 *
 * `take` gets the lease. `run` first asks `nested` whether a lease around it will do; if none does,
 * it takes one, and `underLease` does the work, closes its scope, releases, and reports a loss.
 */
import { DONE, isThenable } from '../base/answer.ts';
import { UsageError } from '../base/errors.ts';
import { misplaced } from '../base/options.ts';
import {
  type AcquireOptions,
  NO_OPTIONS,
  readAcquire,
  siteBelow,
} from '../core/acquire-options.ts';
import type { Engine } from '../core/engine.ts';
import { LeaseLostError } from '../core/errors.ts';
import type { Waiting } from '../store-calls/waiting.ts';

/** A lease, or several. */
export interface Held extends AsyncDisposable {
  readonly signal: AbortSignal;
  readonly held: boolean;
  readonly loss: LeaseLostError | undefined;
  release(): Promise<void>;
}

export type Work<L, T> = (lease: L) => T | PromiseLike<T>;

/** The result of a try; says why the lock is not free. */
export type TryResult<T> =
  | { readonly acquired: true; readonly value: T }
  | ({ readonly acquired: false } & Waiting);

/** Options of a try, which never waits. */
export type TryOptions = Omit<AcquireOptions, 'wait' | 'ifBusy'>;

/** @throws UsageError if they say how to wait. */
export function impatient(options: AcquireOptions): AcquireOptions {
  const { wait, ifBusy } = options;
  if (wait === undefined && ifBusy === undefined) return options;
  const waits = wait === undefined ? 'ifBusy' : 'wait';
  throw new UsageError(`A try never waits: leave out \`${waits}\`, or use \`run\` or \`acquire\`.`);
}

/** @throws UsageError for a method that was taken off its lock. */
function own<T extends object>(lock: T): T {
  return lock ?? misplaced();
}

/** The four ways to take a lock. */
export abstract class Lockable<L extends Held> {
  /** @internal */
  readonly engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.engine = engine;
  }

  /** @internal Takes the lock, or waits; null if `waits` is false and the lock is not free. */
  abstract take(options: AcquireOptions, waits: boolean): Promise<L | null>;

  /** @internal The scope of the work: a context that knows the lease. */
  abstract scope(lease: L): Scope;

  /** @internal Enters the lease that this context holds; undefined if it holds none. */
  protected abstract nested<T>(
    options: AcquireOptions,
    work: Work<L, T>,
    waits: boolean,
  ): Promise<T> | undefined;

  /** @internal Why a try was refused. */
  protected abstract waiting(): Promise<Waiting>;

  /** @internal The options, each read once. Throws UsageError if they are wrong. */
  read(options: AcquireOptions): AcquireOptions {
    return readAcquire(options);
  }

  /**
   * Waits until the lock is held. The caller releases it: prefer `run`, or `await using`.
   *
   * @example
   * await using lease = await locks.mutex('report').acquire({ wait: '5s' });
   * await buildReport(lease.signal);
   *
   * @throws UsageError synchronously; as rejections AcquireTimeoutError, `signal.reason`,
   *   MismatchError, QueueFullError, LeaseLostError if it was evicted or replaced while it waited,
   *   UnsupportedError, DeadlockError with `detectDeadlocks`, StoreError and ClosedError.
   */
  acquire(options: AcquireOptions = NO_OPTIONS): Promise<L> {
    // With `waits` the result is never null.
    const self = own(this);
    return this.take(self.#patient(this.read(options), this.acquire), true) as Promise<L>;
  }

  /**
   * Takes the lock if it is free now, else resolves to null.
   *
   * @example
   * const lease = await locks.mutex('report').tryAcquire();
   * if (lease) await buildReport(lease.signal).finally(lease.release);
   */
  tryAcquire(options: TryOptions = NO_OPTIONS): Promise<L | null> {
    return own(this).take(impatient(this.read(options)), false);
  }

  /**
   * Waits for the lock, runs the work with it, and releases it when the work has settled. Rejects
   * with `LeaseLostError` if the lease was lost meanwhile, even if the work succeeded; its cause is
   * the work's error.
   *
   * @example
   * await locks.mutex('report').run({ wait: '5s' }, ({ signal }) => buildReport(signal));
   *
   * @throws the errors of `acquire`, and DeadlockError if this context holds the lock already.
   */
  run<T>(work: Work<L, T>): Promise<T>;
  run<T>(options: AcquireOptions, work: Work<L, T>): Promise<T>;
  run<T>(first: AcquireOptions | Work<L, T>, second?: Work<L, T>): Promise<T> {
    const { options, work } = own(this).#parse(first, second);
    return this.#run(this.#patient(options, this.run), work);
  }

  #run<T>(options: AcquireOptions, work: Work<L, T>): Promise<T> {
    try {
      const nested = this.nested(options, work, true);
      if (nested) return nested;
      // With `waits` the result is never null.
      return underLease(this.take(options, true) as Promise<L>, this, work, releaseOf);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Runs the work if the lock is free now, else returns why it is not.
   *
   * @example
   * const result = await locks.mutex('report').tryRun(({ signal }) => buildReport(signal));
   * if (!result.acquired) console.log(result.why, result.holders);
   */
  tryRun<T>(work: Work<L, T>): Promise<TryResult<T>>;
  tryRun<T>(options: TryOptions, work: Work<L, T>): Promise<TryResult<T>>;
  tryRun<T>(first: TryOptions | Work<L, T>, second?: Work<L, T>): Promise<TryResult<T>> {
    const { options, work } = own(this).#parse(first, second);
    return this.#tryRun(impatient(options), work);
  }

  async #tryRun<T>(options: AcquireOptions, work: Work<L, T>): Promise<TryResult<T>> {
    const nested = this.nested(options, work, false);
    if (nested) return { acquired: true, value: await nested };
    const lease = await this.take(options, false);
    if (!lease) return { acquired: false, ...(await this.waiting()) };
    return { acquired: true, value: await underLease(lease, this, work, releaseOf) };
  }

  /** With the default wait, and with where it was called, as often as there is time for that. */
  #patient(options: AcquireOptions, called: (...args: never[]) => unknown): AcquireOptions {
    const { settings, loop } = this.engine.services;
    const { wait = settings.waitMs } = options;
    const noted = loop.spare();
    if (!noted && wait === options.wait) return options;
    return { ...options, wait, ...(noted && { site: siteBelow(called) }) };
  }

  #parse<T>(first: AcquireOptions | Work<L, T> = {}, second?: Work<L, T>) {
    const alone = typeof first === 'function' && second === undefined;
    const options = this.read(alone ? NO_OPTIONS : (first as AcquireOptions));
    const work = alone ? first : second;
    if (typeof work !== 'function') throw new UsageError('The last argument must be a function.');
    return { options, work };
  }
}

/** The context in which work runs under a lease. */
export interface Scope {
  inside<T>(work: () => T): T;
  /** Admits no more work; returns a promise if work inside has to end first. */
  close(): Promise<void> | undefined;
}

function releaseOf(lease: Held): Promise<void> {
  return lease.release();
}

/** Does the work, closes its scope, then does `after`. Rejects as `run` does. */
export async function underLease<L extends Pick<Held, 'loss'>, T>(
  taking: L | Promise<L>,
  scopes: { scope(lease: L): Scope },
  work: Work<L, T>,
  after?: (lease: L) => Promise<void>,
): Promise<T> {
  const lease = await taking;
  const scope = scopes.scope(lease);
  let value: T | undefined;
  let thrown: { readonly error: unknown } | undefined;
  try {
    const result = scope.inside(() => work(lease));
    // To await what is no promise would let all other pending microtasks run first.
    value = isThenable(result) ? await result : result;
  } catch (error) {
    thrown = { error };
  }
  const closing = scope.close();
  if (closing) await closing;
  const { loss } = lease;
  const left = after?.(lease) ?? DONE;
  if (left !== DONE) await left;
  if (loss && loss !== thrown?.error) {
    const { resource = '', reason, detail } = loss;
    const { cause } = thrown ? { cause: thrown.error } : loss;
    throw new LeaseLostError(resource, reason, { detail, cause });
  }
  if (thrown) throw thrown.error;
  return value as T;
}
