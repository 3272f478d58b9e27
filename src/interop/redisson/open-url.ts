import type { Store } from '../../contract/store.ts';
import { clientAt } from '../../stores/redis/open-url.ts';
import { type RedissonOptions, redissonStore } from './index.ts';

export { facts } from '../../stores/redis/open-url.ts';

/** `redisson+` and a URL of Redis. */
export async function openUrl(scheme: string, rest: string): Promise<Store> {
  const plain = scheme.replace('redisson+', '');
  const { client, options } = await clientAt<RedissonOptions>(plain, rest);
  return redissonStore(client, options);
}
