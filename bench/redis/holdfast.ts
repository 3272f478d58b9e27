/** Ours, with each client package. */
import { redisStore } from 'holdfast/redis';
import { Cluster, Redis } from 'ioredis';
import { createClient } from 'redis';
import { type Connected, TTL_MS } from '../contender.ts';
import { locksOf } from '../holdfast.ts';

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
  return locksOf(redisStore(client, { maxTtl: TTL_MS }), fair, end);
}
