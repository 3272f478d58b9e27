/** What the documentation says about arguments, written down a second time. */
import type { Said } from './recipes.ts';

const LONGEST_MS = 2 ** 31 - 1;
const LONGEST_KEPT_MS = 3660 * 24 * 3_600_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 };

/** Whole milliseconds, or undefined if it is no duration. */
export function durationOf(value: unknown, longest: number = LONGEST_MS): number | undefined {
  let ms = value;
  if (typeof value === 'string') {
    const unit = ['ms', 's', 'm', 'h', 'd'].find((each) => value.endsWith(each)) ?? '';
    const count = value.slice(0, value.length - unit.length).replace(/ $/, '');
    const good = [...count].every((c) => '0123456789.'.includes(c));
    const parts = count.split('.');
    if (!unit || !good || parts.length > 2 || parts.includes('')) return undefined;
    ms = Number(count) * (UNITS[unit] ?? Number.NaN);
  }
  if (typeof ms !== 'number' || Number.isNaN(ms) || ms < 0 || ms > longest) return undefined;
  return Math.ceil(ms);
}

export function isDuration(value: unknown): boolean {
  return durationOf(value) !== undefined;
}

/** Undefined means the default. */
export function maybe(rule: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || rule(value);
}

function between(value: unknown, min: number, max: number): boolean {
  const ms = durationOf(value);
  return ms !== undefined && ms >= min && ms <= max;
}

export const MAX_TTL_MS = 30_000;

export function isTtl(value: unknown): boolean {
  return between(value, 100, MAX_TTL_MS);
}

export function isMinHold(value: unknown): boolean {
  return between(value, 0, MAX_TTL_MS);
}

export function isPositive(value: unknown): boolean {
  return between(value, 1, LONGEST_MS);
}

export function isKeepFor(value: unknown): boolean {
  return (durationOf(value, LONGEST_KEPT_MS) ?? 0) > 0;
}

/** A lock must be allowed to be held for as long as it has to be held. */
export function holdsAgree(said: Said): boolean {
  const max = durationOf(said.get('maxHold'));
  return max === undefined || max >= (durationOf(said.get('minHold')) ?? 0);
}

export function isText(value: unknown, maxBytes: number): boolean {
  if (typeof value !== 'string' || value === '' || Buffer.byteLength(value) > maxBytes)
    return false;
  return Buffer.from(value).toString() === value;
}

export function isName(value: unknown): boolean {
  return isText(value, 512);
}

export function isPrefix(value: unknown): boolean {
  return value === '' || isText(value, 128);
}

export function isFlag(value: unknown): boolean {
  return value === true || value === false;
}

export function isString(value: unknown): boolean {
  return typeof value === 'string';
}

export function isCount(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

export function isLimit(value: unknown): boolean {
  return isCount(value, 1, 2 ** 30);
}

/** One that the platform made; nothing else has its insides. */
export function isSignal(value: unknown): boolean {
  try {
    ABORTED?.call(value);
    return true;
  } catch {
    return false;
  }
}

const ABORTED = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted')?.get;

export function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
