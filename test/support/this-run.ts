/**
 * What differs from run to run of the tests: chance, how much of all there is, and how fast the
 * machine is. The environment says it, so that workers and child processes know the same.
 */

/** `HOLDFAST_RUN`: the number of this run, from which its chance follows. A runner prints it. */
export const RUN: number = wholeNumber('HOLDFAST_RUN', 1);

/** `HOLDFAST_WHOLE`: all seeds, shelves and kinds, as in the battery, not a share by turns. */
export const WHOLE: boolean = process.env.HOLDFAST_WHOLE === '1';

/**
 * `HOLDFAST_PACE`: how many times longer leases are here than on a quiet machine, at least 1.
 * Measured before the tests that count on real clocks, and doubled where the machine stood still.
 */
export const PACE: number = Math.max(1, Number(process.env.HOLDFAST_PACE ?? 1));

/** `HOLDFAST_HANG_MS`: what has not come about after so long will never. No machine is so slow. */
export const HANG_MS: number = wholeNumber('HOLDFAST_HANG_MS', 300_000);

/** The shortest time that was paced in this process, in ms: a longer stall spoils it. */
export const shortest: { ms: number | undefined } = ofThisProcess('holdfast.shortest', {
  ms: undefined as number | undefined,
});

/** A time that a lease or a client's own limit gets on a quiet machine, for this one; in ms. */
export function paced(ms: number): number {
  const here = Math.ceil(ms * PACE);
  shortest.ms = Math.min(here, shortest.ms ?? here);
  return here;
}

/** To be told with what fails by chance: how to have the same again. */
export const AGAIN: string = `again with HOLDFAST_RUN=${RUN}${WHOLE ? ' HOLDFAST_WHOLE=1' : ''}`;

/** All of so many in a whole run, otherwise a fifth of them. */
export function shareOf(whole: number): number {
  return WHOLE ? whole : Math.ceil(whole / 5);
}

/** So many seeds, or a share of them, that are others in each run. */
export function seedsOf(whole: number): number[] {
  return Array.from({ length: shareOf(whole) }, (_, i) => RUN * 1000 + i + 1);
}

/** One in so many, another in each run; in a whole run, all. */
export function turnOf<T>(all: readonly T[], count = 1): readonly T[] {
  if (WHOLE || count >= all.length) return all;
  return Array.from({ length: count }, (_, i) => all[(RUN * count + i) % all.length] as T);
}

/** The test runner has modules of its own, and a test file may load them anew. */
function ofThisProcess<T>(name: string, initial: T): T {
  const all = globalThis as unknown as Record<symbol, T>;
  all[Symbol.for(name)] ??= initial;
  return all[Symbol.for(name)] as T;
}

function wholeNumber(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined) return otherwise;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new Error(`${name} must be a whole number, not '${text}'.`);
}
