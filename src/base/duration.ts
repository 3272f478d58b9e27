import { UsageError } from './errors.ts';
import { show } from './show.ts';

/** Milliseconds, or text such as `'250ms'`, `'30s'`, `'1.5m'`, `'2h'`, `'1d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNIT = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** The longest delay that a timer takes (2^31 - 1 ms, 25 days); also the longest duration. */
export const MAX_DURATION_MS = 2_147_483_647;

/**
 * Whole milliseconds of a duration, rounded up. Takes any text, such as that of an environment
 * variable.
 * @param what names the option in the message.
 *
 * @example
 * import { parseDuration } from 'holdfast';
 *
 * parseDuration('1.5m'); // 90_000
 *
 * @throws UsageError if it is malformed, negative, not finite or longer than 24 days.
 */
export function parseDuration(value: Duration | string, what = 'duration'): number {
  const ms = millisecondsOf(value, what);
  if (ms <= MAX_DURATION_MS) return ms;
  throw new UsageError(`${what} is longer than 24 days: ${show(value)}.`);
}

/** The check of an option that has this default. */
type DurationCheck<D> = (
  given: Duration | undefined,
  name: string,
) => D extends Duration ? number : number | undefined;

/** The option `name`, in ms. Without a default it may be left out. */
export function duration<D extends Duration | undefined>(otherwise?: D): DurationCheck<D> {
  const check = (given: Duration | undefined = otherwise, name: string): number | undefined =>
    given === undefined ? undefined : parseDuration(given, name);
  return check as DurationCheck<D>;
}

/** The same, and more than 0. */
export function positive<D extends Duration | undefined>(otherwise?: D): DurationCheck<D> {
  return (given, name) => {
    const ms = duration(otherwise)(given, name);
    if (ms === 0) throw new UsageError(`${name} must be more than 0.`);
    return ms;
  };
}

/**
 * The same for a span that no timer counts, however long.
 * @throws UsageError if it is malformed or negative.
 */
export function millisecondsOf(value: Duration | string, what: string): number {
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?) ?(ms|[smhd])$/.exec(value) : null;
  const ms = match ? Number(match[1]) * (UNIT.get(match[2] ?? '') ?? Number.NaN) : value;
  if (typeof ms !== 'number' || !(ms >= 0)) {
    const good = "a number of milliseconds or text such as '500ms', '30s' or '5m'";
    throw new UsageError(`${what} must be ${good}, not ${show(value)}.`);
  }
  return Math.ceil(ms);
}
