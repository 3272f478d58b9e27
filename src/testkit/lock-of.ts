import type { Locks } from '../locks.ts';
import type { LockOptions } from '../options.ts';
import type { SingleLock } from '../primitives/single-lock.ts';

/** A lock that lets one in at a time, whatever it is called. */
export interface LockOf {
  readonly name: string;
  of(locks: Locks, resource: string, options?: LockOptions): SingleLock;
}

/** What has to behave like a mutex. */
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
