import { type RedissonOptions, redissonStore } from 'holdfast/redisson';
import type { Store } from 'holdfast/store';
import { Redis } from 'ioredis';

/** As a program of its own opens it. */
export function open(url = '', mutex: 'lock' | 'fenced' | 'fair' = 'lock'): Store {
  return redissonStore(new Redis(url, { lazyConnect: true }), optionsOf(mutex));
}

/** A new server might have lost something; these have not. */
const TRUST: RedissonOptions = { afterDataLoss: 'trust', maxTtl: '2m' };

/** Only messages end a wait early. */
export const OPTIONS: RedissonOptions = { ...TRUST, retry: '1h' };

export function optionsOf(mutex: 'lock' | 'fenced' | 'fair'): RedissonOptions {
  return mutex === 'fair' ? { ...TRUST, mutex } : { ...OPTIONS, mutex };
}
