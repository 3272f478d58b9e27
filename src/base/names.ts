import { Buffer } from 'node:buffer';
import { UsageError } from './errors.ts';

/** Longest name in bytes of UTF-8. */
export const MAX_NAME_BYTES = 512;

/** Longest `prefix` in bytes of UTF-8; a store's keys must have room for prefix and name. */
export const MAX_PREFIX_BYTES = 128;

/**
 * Checks a name and returns it unchanged: names are compared as they are, without normalisation,
 * so two different strings never mean the same lock.
 * @throws UsageError if it is not a string, is empty or too long, or has half a surrogate pair,
 *   which no encoding could tell from another.
 */
export function checkName(name: string, what = 'name', maxBytes: number = MAX_NAME_BYTES): string {
  if (typeof name !== 'string') throw new UsageError(`The ${what} must be a string.`);
  if (name === '') throw new UsageError(`The ${what} must not be empty.`);
  const bytes = name.length * 3 <= maxBytes ? 0 : Buffer.byteLength(name);
  if (bytes > maxBytes) {
    throw new UsageError(
      `The ${what} has ${bytes} bytes of UTF-8; at most ${maxBytes} are allowed.`,
    );
  }
  if (!name.isWellFormed()) {
    throw new UsageError(`The ${what} has half a surrogate pair, so it is not valid Unicode.`);
  }
  return name;
}
