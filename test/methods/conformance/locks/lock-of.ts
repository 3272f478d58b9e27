import type { Locks } from '../../../../src/locks.ts';
import type { Lock } from '../../../../src/primitives/lock.ts';
import type { LockOptions } from '../../../../src/primitives/lock-options.ts';

/** A lock of any kind that has one holder at a time. */
export interface LockOf {
  readonly name: string;
  of(locks: Locks, resource: string, options?: LockOptions): Lock;
}

/** Locks that must behave like a mutex. */
export const MUTEXES: readonly LockOf[] = [
  { name: 'mutex', of: (locks, resource, options) => locks.mutex(resource, options) },
  {
    name: 'semaphoreAsMutex',
    of: (locks, resource, options) => locks.semaphore(resource, { ...options, limit: 1 }),
  },
  {
    name: 'writeLockAsMutex',
    of: (locks, resource, options) => locks.rwLock(resource, options).write,
  },
];
