import type { Locks } from '../../../../src/locks.ts';
import type { Lock } from '../../../../src/primitives/lock.ts';
import type { LockOptions } from '../../../../src/primitives/lock-options.ts';

/** A lock of any kind that has one holder at a time. */
export interface LockOf {
  readonly name: string;
  /** Tasks of one process hand the lock on among themselves. */
  readonly handsOn: boolean;
  of(locks: Locks, resource: string, options?: LockOptions): Lock;
}

/** Locks that must behave like a mutex. */
export const MUTEXES: readonly LockOf[] = [
  {
    name: 'mutex',
    handsOn: true,
    of: (locks, resource, options) => locks.mutex(resource, options),
  },
  {
    name: 'semaphoreAsMutex',
    handsOn: false,
    of: (locks, resource, options) => locks.semaphore(resource, { ...options, limit: 1 }),
  },
  {
    name: 'writeLockAsMutex',
    handsOn: true,
    of: (locks, resource, options) => locks.rwLock(resource, options).write,
  },
];
