import { wholeNumber } from '../base/options.ts';

/** Longest queue of waiting claims of one resource; default 10,000. */
export const maxWaiters: (given: number | undefined, name: string) => number = wholeNumber(
  0,
  Number.POSITIVE_INFINITY,
  10_000,
);
