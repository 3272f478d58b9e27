import { checkName, MAX_NAME_BYTES } from '../base/names.ts';
import { engineOf, type Locks } from '../locks.ts';
import type { Lock } from '../primitives/lock.ts';
import type { LockOptions } from '../primitives/lock-options.ts';

/** Longest key in bytes of UTF-8: a name, less the job's prefix. */
const MAX_KEY_BYTES = MAX_NAME_BYTES - 'refresh:'.length;

/** @throws UsageError */
export function checkKey(key: string): string {
  return checkName(key, 'key', MAX_KEY_BYTES);
}

/** The mutex of a key. @throws UsageError, also unless these are locks. */
export function keyLock(locks: Locks, name: string, options: LockOptions): Lock {
  engineOf(locks);
  return locks.mutex(name, options);
}
