/** Locks whose store is real, behind a network that loses or delays what a case says. */
import { StoreError } from '../../../../src/contract/errors.ts';
import { type FaultyStore, faultyStore } from '../../../../src/testkit/faulty-store.ts';
import type { TestBed } from '../../../../src/testkit/test-bed.ts';

export const BROKEN: StoreError = new StoreError('The connection broke.', {
  retryable: true,
  outcome: 'unknown',
});
export const BUSY: StoreError = new StoreError('Busy.', { retryable: true, outcome: 'failed' });

/** Locks on a store that a case can break. The TTL leaves room for three tries under load. */
export function faulty(bed: TestBed): Broken {
  const ttl = 5 * bed.ttlMs;
  const store = faultyStore(bed.store, bed.clock);
  return { store, ttl, locks: bed.locks({ ttl }, store) };
}

interface Broken {
  readonly store: FaultyStore;
  readonly locks: ReturnType<TestBed['locks']>;
  readonly ttl: number;
}
