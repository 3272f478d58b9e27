import { type RedissonOptions, redissonStore } from 'holdfast/redisson';
import type { Store } from 'holdfast/store';
import { Redis } from 'ioredis';

/** As a program of its own opens it. Its waiters ask by themselves only once in a while. */
export function open(url = '', mutex: RedissonOptions['mutex'] = 'lock'): Store {
  return redissonStore(new Redis(url, { lazyConnect: true }), { ...OPTIONS, mutex });
}

/** A new server might have lost something; these have not. */
export const OPTIONS: RedissonOptions = { afterDataLoss: 'trust', maxTtl: '2m', retry: '20s' };
