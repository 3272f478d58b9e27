import { createLocks, type Locks, type Store, StoreError } from 'holdfast';
import { type MemoryStore, memoryStore } from 'holdfast/memory';
import { type Around, aroundStore } from 'holdfast/testkit';
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

/** It may have happened. */
export function lost(): StoreError {
  return new StoreError('connection lost', { retryable: true, outcome: 'unknown' });
}
