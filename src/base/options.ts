import type { Duration } from './duration.ts';
import { isLockError, UsageError } from './errors.ts';
import { show } from './show.ts';

/**
 * The checked value of an option: the milliseconds of a duration, and everything else as it was
 * given.
 */
type OptionValue<V> = [Duration] extends [Exclude<V, undefined>] ? number : Exclude<V, undefined>;

/**
 * The checks of a set of options: for each name a function that takes the caller's value, or
 * undefined, and returns the value to use, or the default, or throws a `UsageError`.
 * @typeParam A The options without a default, which may be absent.
 */
export type Checks<T, A = never> = {
  readonly [K in keyof T]-?: (
    given: T[K],
    name: string,
  ) => OptionValue<T[K]> | (K extends A ? undefined : never);
};

type Used<C, K extends keyof C> = C[K] extends (...args: never[]) => infer R ? R : never;
type Absent<C> = { [K in keyof C]: undefined extends Used<C, K> ? K : never }[keyof C];

/** The types of the checks' results; one that may be undefined may be left out. */
export type Checked<C> = { readonly [K in Exclude<keyof C, Absent<C>>]: Used<C, K> } & {
  readonly [K in Absent<C>]?: Exclude<Used<C, K>, undefined>;
};

/** @throws UsageError if they are not an object, or if an option is unknown or wrong. */
export function checkOptions<T extends object, C extends Checks<T, keyof T>>(
  options: T,
  checks: C,
  what: string,
): Checked<C> {
  const known: Checks<T, keyof T> = checks;
  const names = Object.keys(known) as (keyof T & string)[];
  refuseUnknown(options, names, what);
  const used: Record<string, unknown> = {};
  for (const name of names) {
    const value = known[name](options[name], name);
    if (value !== undefined) used[name] = value;
  }
  return used as Checked<C>;
}

export function flag(otherwise = false): (given: boolean | undefined, name: string) => boolean {
  return (given = otherwise, name) => {
    if (typeof given === 'boolean') return given;
    throw new UsageError(`${name} must be true or false.`);
  };
}

export function text(given: string | undefined, name: string): string | undefined {
  if (given === undefined || typeof given === 'string') return given;
  throw new UsageError(`${name} must be text.`);
}

/** One of these words; the first is the default. */
export function oneOf<const W extends string>(
  ...words: readonly [W, ...W[]]
): (given: W | undefined, name: string) => W {
  return (given = words[0], name) => {
    if (words.includes(given)) return given;
    throw new UsageError(`${name} must be '${words.join("' or '")}', not ${show(given)}.`);
  };
}

/** Without a default it must be given. */
export function wholeNumber(
  least: number,
  most: number,
  otherwise?: number,
): (given: number | undefined, name: string) => number {
  return (given = otherwise, name) => {
    const whole = Number.isInteger(given) ? Number(given) : Number.NaN;
    if (whole >= least && whole <= most) return whole;
    const range = Number.isFinite(most) ? `from ${least} to ${most}` : `of at least ${least}`;
    throw new UsageError(`${name} must be a whole number ${range}, not ${show(given)}.`);
  };
}

export function callable<F>(given: F, name: string): F {
  if (typeof given === 'function') return given;
  throw new UsageError(`${name} must be a function.`);
}

/** For an option that is checked where it is used. */
export function asGiven<T>(given: T): T {
  return given;
}

/**
 * The known options that were given.
 * @throws UsageError if they are not an object, or have an unknown option.
 */
export function readOptions<T extends object>(
  options: T,
  known: readonly string[],
  what: string,
): T {
  refuseUnknown(options, known, what);
  const given = known.map((key) => [key, options[key as keyof T]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as T;
}

/** A misspelt option would be ignored silently. */
function refuseUnknown(options: object, known: readonly string[], what: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new UsageError(`The options of ${what} must be an object.`);
  }
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const all = known.join(', ');
    throw new UsageError(`${what} has no option ${JSON.stringify(unknown)}; it has ${all}.`);
  }
}

/** @throws UsageError if they are the work of a lock. */
export function noWork<T>(options: T): T {
  return typeof options === 'function' ? misplaced() : options;
}

/** For work, or a method, that is not where it belongs. @throws UsageError */
export function misplaced(): never {
  throw new UsageError('Call lock.run(work), lock.run(options, work) or lock.read.run(work).');
}

/** @throws UsageError in place of the error of a getter or a proxy. */
export function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (isLockError(cause)) throw cause;
    throw new UsageError(`${what} cannot be read.`, { cause });
  }
}
