import { UsageError } from '../base/errors.ts';
import { show } from '../base/show.ts';

/** Longest queue of waiting claims of one resource, unless the store is told another one. */
const MAX_WAITERS = 10_000;

/** @throws UsageError */
export function checkMaxWaiters(maxWaiters: number = MAX_WAITERS): number {
  if (Number.isInteger(maxWaiters) && maxWaiters >= 0) return maxWaiters;
  throw new UsageError(`maxWaiters must be a whole number, not ${show(maxWaiters)}.`);
}
