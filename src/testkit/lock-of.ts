import type { Locks } from '../locks.ts';
import type { Lock } from '../primitives/lock.ts';
import type { LockOptions } from '../primitives/lock-options.ts';

/** A lock that lets one in at a time, whatever it is called. */
export interface LockOf {
  readonly name: string;
  /** Tasks of one process hand it on among themselves. */
  readonly handsOn: boolean;
  of(locks: Locks, resource: string, options?: LockOptions): Lock;
}

/** What has to behave like a mutex. */
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
