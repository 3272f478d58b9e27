import { type RedissonOptions, redissonStore } from 'holdfast/redisson';
import type { Store } from 'holdfast/store';
import { Redis } from 'ioredis';

/** As a program of its own opens it. */
export function open(url = '', mutex: RedissonOptions['mutex'] = 'lock'): Store {
  return redissonStore(new Redis(url, { lazyConnect: true }), { ...OPTIONS, mutex });
}

/** A new server might have lost something; these have not. Only messages end a wait early. */
export const OPTIONS: RedissonOptions = { afterDataLoss: 'trust', maxTtl: '2m', retry: '1h' };
