import type { Duration } from '../base/duration.ts';
import { checkName, MAX_NAME_BYTES } from '../base/names.ts';
import { engineOf, type Locks } from '../locks.ts';
import type { Lock } from '../primitives/lock.ts';

/** Longest key in bytes of UTF-8: a name, less the job's prefix. */
const MAX_KEY_BYTES = MAX_NAME_BYTES - 'refresh:'.length;

/** @throws UsageError */
export function checkKey(key: string): string {
  return checkName(key, 'key', MAX_KEY_BYTES);
}

type KeyTimes = Readonly<Record<'ttl' | 'maxHold', Duration | undefined>>;

/** The mutex of a key. @throws UsageError unless these are locks. */
export function keyLock(locks: Locks, name: string, { ttl, maxHold }: KeyTimes): Lock {
  engineOf(locks);
  return locks.mutex(name, {
    ...(ttl !== undefined && { ttl }),
    ...(maxHold !== undefined && { maxHold }),
  });
}
