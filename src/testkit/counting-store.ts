import type { Store } from '../contract/store.ts';
import { aroundStore, type Verb } from './around-store.ts';

/** How often a verb was called, and with how many claims in all. */
export interface Count {
  readonly requests: number;
  readonly claims: number;
}

export interface CountingStore extends Store {
  count(verb: Verb): Count;
  /** Requests of all verbs together. */
  total(): number;
  /** Starts again at 0. */
  reset(): void;
}

/**
 * Counts the requests to a store.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { memoryStore } from 'holdfast/memory';
 * import { countingStore } from 'holdfast/testkit';
 *
 * const store = countingStore(memoryStore());
 * await createLocks(store).mutex('report').run(({ signal }) => buildReport(signal));
 * console.log(store.total(), store.count('claim').requests);
 *
 * @experimental
 */
export function countingStore(store: Store): CountingStore {
  const counts = new Map<Verb, Count>();
  const count = (verb: Verb): Count => counts.get(verb) ?? { requests: 0, claims: 0 };
  const counting = aroundStore(store, ({ verb, claims }, next) => {
    const before = count(verb);
    counts.set(verb, { requests: before.requests + 1, claims: before.claims + claims.length });
    return next();
  });
  return Object.assign(counting, {
    count,
    total: () => [...counts.values()].reduce((sum, { requests }) => sum + requests, 0),
    reset: () => counts.clear(),
  });
}
