/** The clients of both packages fit without a cast. That this compiles is the test. */
import { type RedisClient, redisStore } from 'holdfast/redis';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { createClient, createCluster, createSentinel } from 'redis';
import {
  createClient as createClient5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from 'redis5';
import { expect, test } from 'vitest';

const rootNodes = [{ url: 'redis://localhost' }];
const sentinels = { name: 'x', sentinelRootNodes: [{ host: 'localhost', port: 1 }] };

const clients: readonly RedisClient[] = [
  new Redis({ lazyConnect: true }),
  new Redis5({ lazyConnect: true }),
  new Cluster([], { lazyConnect: true }),
  new Cluster5([], { lazyConnect: true }),
  createClient(),
  createClient5(),
  createClient({ RESP: 2 }),
  createClient5({ RESP: 3 }),
  createCluster({ rootNodes }),
  createCluster5({ rootNodes }),
  createSentinel(sentinels),
  createSentinel5(sentinels),
];

test.each(clients)('%# is a client', (client) => {
  expect(redisStore(client).name).toBe('redis');
  expect(redisStore(createClient().withTypeMapping({})).name).toBe('redis');
});

test('what is none does not compile', () => {
  // @ts-expect-error: a URL is for connect().
  expect(() => redisStore('redis://localhost')).toThrow();
  // @ts-expect-error: nor are options.
  expect(() => redisStore({ host: 'localhost' })).toThrow();
  // @ts-expect-error: a pipeline has no connection of its own.
  expect(() => redisStore(new Redis({ lazyConnect: true }).pipeline())).toThrow();
});
