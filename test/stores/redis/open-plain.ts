import { plainRedisStore } from 'holdfast/redis';
import type { Store } from 'holdfast/store';
import { Redis } from 'ioredis';

/** As a program of its own opens it, on a server that has lost nothing. */
export function open(url = ''): Store {
  const client = new Redis(url, { lazyConnect: true });
  return plainRedisStore(client, { afterDataLoss: 'trust', retry: 20 });
}
