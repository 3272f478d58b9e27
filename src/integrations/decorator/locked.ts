/**
 * `locked`: a decorator that runs a method under a mutex.
 *
 * One function serves both kinds of decorators. Standard ones get the method and a context; those
 * of TypeScript's `experimentalDecorators`, which NestJS uses, get the prototype, the key and a
 * descriptor. `reflect-metadata` is not imported: if the program has it, `standIn` copies the
 * metadata of other decorators to the new method, because NestJS, for one, looks there for routes.
 * Apart from its type, only its return value shows that a method is asynchronous, so each call
 * checks that.
 */
import { type Duration, duration } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { asGiven, checkOptions, oneOf, text } from '../../base/options.ts';
import { ACQUISITION } from '../../core/acquire-options.ts';
import type { Locks } from '../../locks.ts';
import { LOCK, type LockOptions } from '../../primitives/lock-options.ts';

/** Options of one call of a `locked` method; they override those of its decorator. */
export interface LockedCall {
  /** The name of the mutex. */
  readonly name: string;
  /** Give up waiting after this long, with `AcquireTimeoutError`; default that of the decorator. */
  readonly wait?: Duration;
  /** Ends the wait; the call rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
  /** Shown to people who look at the queue; default the label of the decorator. */
  readonly label?: string;
}

export interface LockedOptions extends LockOptions {
  /** Give up waiting after this long, with `AcquireTimeoutError`; default that of `createLocks`. */
  readonly wait?: Duration;
  /** Shown to people who look at the queue; default the label of `createLocks`. */
  readonly label?: string;
  /**
   * Default `wait`. `skip`: if the mutex is taken, the call resolves to undefined without calling
   * the method.
   */
  readonly ifBusy?: 'wait' | 'skip';
}

/** A method that may be `locked`: it returns a promise. */
export type AsyncMethod = (...args: never[]) => PromiseLike<unknown>;

/** `name` takes arguments of the method, which with `skip` must be able to return undefined. */
type Fitting<M extends AsyncMethod, A extends unknown[], Skips> = [(...args: A) => void] extends [
  (...args: Parameters<M>) => void,
]
  ? Skips extends true
    ? undefined extends Awaited<ReturnType<M>>
      ? unknown
      : { readonly error: "with ifBusy: 'skip', the method must be able to return undefined" }
    : unknown
  : { readonly error: 'the name uses arguments that the method does not have' };

/** Decorates an asynchronous method, as both kinds of decorators. */
export interface LockedDecorator<Self, A extends unknown[], Skips> {
  <This extends Self, M extends AsyncMethod>(
    method: M & Fitting<M, A, Skips>,
    context: ClassMethodDecoratorContext<This>,
  ): M;
  <This extends Self, M extends AsyncMethod>(
    target: This,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<M> & Fitting<M, A, Skips>,
  ): TypedPropertyDescriptor<M>;
}

/**
 * Decorates an asynchronous method: each call waits for the mutex `name`, runs under it, and
 * releases it when its promise has settled, as `run` does. Code that the method calls finds the
 * lease with `currentLease()`.
 * @param locks The locks, or a function from the object to its locks.
 * @param name The name of the mutex, or a function from the arguments of the call to it.
 * @throws UsageError if it decorates anything but a method, or the options are wrong. The decorated
 *   method rejects as `run` does, and with UsageError if the method did not return a promise: it
 *   would continue without the lock.
 * @example
 * import { currentLease, type Locks, locked } from 'holdfast';
 *
 * class Orders {
 *   readonly locks: Locks;
 *
 *   constructor(locks: Locks) {
 *     this.locks = locks;
 *   }
 *
 *   \@locked((self: Orders) => self.locks, (id: string) => `order:${id}`, { wait: '5s' })
 *   async ship(id: string): Promise<void> {
 *     await ship({ id });
 *     currentLease()?.assertHeld();
 *   }
 * }
 */
export function locked<Self extends object = object, A extends unknown[] = []>(
  locks: Locks | ((self: Self) => Locks),
  name: string | ((...args: A) => string | LockedCall),
  options: Omit<LockedOptions, 'wait'> & { readonly ifBusy: 'skip' },
): LockedDecorator<Self, A, true>;
export function locked<Self extends object = object, A extends unknown[] = []>(
  locks: Locks | ((self: Self) => Locks),
  name: string | ((...args: A) => string | LockedCall),
  options?: LockedOptions & { readonly ifBusy?: 'wait' },
): LockedDecorator<Self, A, false>;
export function locked<Self extends object, A extends unknown[]>(
  locks: Locks | ((self: Self) => Locks),
  name: string | ((...args: A) => string | LockedCall),
  options: LockedOptions = {},
): LockedDecorator<Self, A, boolean> {
  // Not outside, or programs without it would carry them.
  const called = { name: asGiven<string>, ...ACQUISITION };
  const checks = { ...LOCK, wait: duration(), label: text, ifBusy: oneOf('wait', 'skip') };
  const read = checkOptions<LockedOptions, typeof checks>(options, checks, 'locked');
  const { ifBusy, wait, label, ...lockOptions } = read;
  if (typeof name !== 'string' && typeof name !== 'function') {
    throw new UsageError('locked takes a name, or a function that returns one.');
  }
  if (typeof locks !== 'function') checkLocks(locks);
  if (ifBusy === 'skip' && wait !== undefined) {
    throw new UsageError("ifBusy 'skip' never waits: leave out wait.");
  }
  const defaults = { ...(wait !== undefined && { wait }), ...(label !== undefined && { label }) };

  const replace = (method: Method): Method => {
    const runLocked = async function (this: Self, ...args: unknown[]): Promise<unknown> {
      const from = typeof locks === 'function' ? checkLocks(locks(this)) : locks;
      const made = typeof name === 'string' ? name : name.apply(this, args as A);
      const call: LockedCall = typeof made === 'string' ? { name: made } : made;
      const { name: resource, ...said } = checkOptions(call, called, 'a locked call');
      const mutex = from.mutex(resource, lockOptions);
      const work = (): PromiseLike<unknown> => promiseOf(method.apply(this, args), method);
      if (ifBusy === 'wait') return mutex.run({ ...defaults, ...said }, work);
      const result = await mutex.tryRun({ ...defaults, ...said }, work);
      return result.acquired ? result.value : undefined;
    };
    return standIn(runLocked as Method, method);
  };
  return decoratorOf(replace) as LockedDecorator<Self, A, boolean>;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** The second argument shows the kind of decorator: a context has a kind, a key is a name. */
function decoratorOf(replace: (method: Method) => Method) {
  return (first: unknown, second?: unknown, third?: unknown): unknown => {
    if (typeof second === 'object' && second !== null && 'kind' in second) {
      if (second.kind === 'method') return replace(first as Method);
      throw new UsageError(`locked decorates methods, not a ${second.kind}.`);
    }
    const descriptor = third as PropertyDescriptor | undefined;
    if (typeof descriptor?.value !== 'function') {
      const what = second === undefined ? 'a class' : `${String(second)}, which is not one`;
      throw new UsageError(`locked decorates methods, not ${what}.`);
    }
    descriptor.value = replace(descriptor.value as Method);
    return descriptor;
  };
}

/** Accepts `Locks` of another copy of the package. */
function checkLocks(locks: Locks): Locks {
  if (typeof (locks as Partial<Locks> | undefined)?.mutex === 'function') return locks;
  throw new UsageError('locked takes Locks, or a function that returns the Locks of an object.');
}

function promiseOf(answer: unknown, { name }: Method): PromiseLike<unknown> {
  if (typeof (answer as Partial<PromiseLike<unknown>> | undefined)?.then === 'function') {
    return answer as PromiseLike<unknown>;
  }
  const why = 'otherwise its work could go on without the lock';
  throw new UsageError(`${name || 'The method'} must return a promise to be locked: ${why}.`);
}

/** The part of `reflect-metadata` that is used, if the program has it. */
interface Metadata {
  getOwnMetadataKeys?(target: object): readonly unknown[];
  getOwnMetadata?(key: unknown, target: object): unknown;
  defineMetadata?(key: unknown, value: unknown, target: object): void;
}

/** Own properties of every function, which are not copied. */
const BUILT_IN = new Set<string | symbol>(['prototype', 'arguments', 'caller']);

/** Copies to the function what others see of the method: name, length, properties and metadata. */
function standIn(made: Method, method: Method): Method {
  for (const key of Reflect.ownKeys(method)) {
    if (BUILT_IN.has(key)) continue;
    Object.defineProperty(made, key, Object.getOwnPropertyDescriptor(method, key) ?? {});
  }
  const metadata = Reflect as Metadata;
  for (const key of metadata.getOwnMetadataKeys?.(method) ?? []) {
    metadata.defineMetadata?.(key, metadata.getOwnMetadata?.(key, method), made);
  }
  return made;
}
