/** Ours, with default options but for the TTL, which all contenders share. */
import { createLocks } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { Cluster, Redis } from 'ioredis';
import { createClient } from 'redis';
import { type Connected, TTL_MS } from '../contender.ts';

type Client = Parameters<typeof redisStore>[0];

export async function holdfast(url: string, fair: boolean): Promise<Connected> {
  const client = new Redis(url);
  return connected(client, fair, () => client.quit());
}

/** In a cluster with nodes at these addresses, separated by commas. */
export async function holdfastCluster(urls: string): Promise<Connected> {
  const client = new Cluster(urls.split(','));
  return connected(client, true, () => client.quit());
}

export async function holdfastNodeRedis(url: string): Promise<Connected> {
  const client = createClient({ url });
  await client.connect();
  return connected(client, false, () => client.close());
}

function connected(client: Client, fair: boolean, end: () => Promise<unknown>): Connected {
  const locks = createLocks(redisStore(client, { maxTtl: TTL_MS }), { ttl: TTL_MS });
  return {
    task: (resource) => {
      const lock = locks.mutex(resource, { fair });
      return async () => {
        const lease = await lock.acquire();
        return () => lease.release();
      };
    },
    close: async () => {
      await locks.close();
      await end();
    },
  };
}
