import { Buffer } from 'node:buffer';
import { UsageError } from '../base/errors.ts';
import { show } from '../base/show.ts';
import type { Bound, Dialect, Value } from './link.ts';

/**
 * The value as this dialect's clients bind it exactly. To MySQL numbers go as text, since a double
 * compared with text matches whatever begins with that number, and clients bind numbers as doubles.
 */
export function boundFor(dialect: Dialect, value: unknown): Bound {
  if (value === null || value instanceof Date) return value;
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  if (dialect === 'postgres') return value as Bound;
  return typeof value === 'boolean' ? Number(value) : String(value);
}

/** @throws UsageError for what no database keeps as it is. */
export function checkValue(value: unknown, what: string, dialect: Dialect): void {
  if (!isValue(value)) {
    const good = 'text, a finite number, bigint, boolean, Date, bytes or null';
    throw new UsageError(`${what} must be ${good}, not ${show(value)}.`);
  }
  if (typeof value !== 'string') return;
  if (!value.isWellFormed()) {
    throw new UsageError(`${what} has half a surrogate pair and is no Unicode text.`);
  }
  if (dialect === 'postgres' && value.includes('\0')) {
    throw new UsageError(`${what} has a NUL, which PostgreSQL's text cannot have.`);
  }
}

function isValue(value: unknown): value is Value {
  if (value === null) return true;
  if (value instanceof Date) return Number.isFinite(value.getTime());
  if (typeof value === 'number') return Number.isFinite(value);
  return ['string', 'bigint', 'boolean'].includes(typeof value) || value instanceof Uint8Array;
}
