import { createLocks, type Locks, type Store, StoreError } from 'holdfast';
import { type MemoryStore, memoryStore } from 'holdfast/memory';
import { type Around, aroundStore } from 'holdfast/testkit';
import { type TestAPI, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';

export interface Bed {
  readonly clock: FakeClock;
  readonly store: MemoryStore;
  /** Of the first process, whose requests may meet something on their way. */
  readonly locks: Locks;
  /** Of another process. */
  readonly other: Locks;
  /** What happens around the requests of the first. */
  around: Around;
}

export function setUp(traits: Partial<Store['traits']> = {}): Bed {
  const clock = new FakeClock();
  const store = memoryStore({ clock });
  const around: Around = (request, next) => bed.around(request, next);
  const wrapped = aroundStore(store, around, { ...store.traits, ...traits });
  const bed: Bed = {
    ...{ clock, store, around: (_, next) => next() },
    locks: createLocks(wrapped, { clock, ttl: '10s' }),
    other: createLocks(store, { clock, ttl: '10s' }),
  };
  return bed;
}

interface Given extends Omit<Bed, 'around'> {
  readonly bed: Bed;
}

/** A test that gets a bed of its own, or what it names of one. */
export const it: TestAPI<Given> = test.extend<Given>({
  bed: ({ task: _ }, give) => give(setUp()),
  clock: ({ bed }, give) => give(bed.clock),
  store: ({ bed }, give) => give(bed.store),
  locks: ({ bed }, give) => give(bed.locks),
  other: ({ bed }, give) => give(bed.other),
});

/** It may have happened. */
export function lost(): StoreError {
  return new StoreError('connection lost', { retryable: true, outcome: 'unknown' });
}
