import { isLockError, UsageError } from './errors.ts';

/**
 * The known options, each read once, in an object of our own: what was checked is what is used,
 * whatever a getter or a proxy says at a second look. An option that is misspelt would be ignored
 * silently, so it is refused instead.
 * @throws UsageError if they are no object, have an unknown option, or cannot be read.
 */
export function readOptions<T extends object>(
  options: T,
  known: readonly string[],
  what: string,
): T {
  return reading(`The options of ${what}`, () => {
    if (typeof options !== 'object' || options === null || Array.isArray(options)) {
      throw new UsageError(`The options of ${what} must be an object.`);
    }
    const unknown = Object.keys(options).find((key) => !known.includes(key));
    if (unknown !== undefined) {
      const all = known.join(', ');
      throw new UsageError(`${what} has no option ${JSON.stringify(unknown)}; it has ${all}.`);
    }
    const read: Record<string, unknown> = {};
    for (const key of known) {
      const value = (options as Record<string, unknown>)[key];
      if (value !== undefined) read[key] = value;
    }
    return read as T;
  });
}

/** @throws UsageError instead of what a getter or a proxy throws. */
export function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (isLockError(cause)) throw cause;
    throw new UsageError(`${what} cannot be read.`, { cause });
  }
}
