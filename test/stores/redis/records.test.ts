/** What is kept of work that is done: one key each, which ends by itself. */
import { plainRedisStore, redisStore } from 'holdfast/redis';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimOf, sleep } from '../../methods/faults/bed.ts';
import { startCluster } from '../../servers/cluster.ts';
import { RedisServer } from '../../servers/redis-server.ts';

const RECORD = { text: 'done', ms: 60_000 };

let server: RedisServer;
let client: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  client = new Redis(server.url);
});
afterAll(async () => {
  client.disconnect();
  await server.close();
});

test.each([
  ['queues', redisStore],
  ['plain locks', plainRedisStore],
])('%s: the key of a record ends with it, and no other is left', async (_, make) => {
  await server.command('FLUSHALL');
  const store = make(client, { afterDataLoss: 'trust' });
  const claim = claimOf('job');
  await store.claim([claim]);
  expect(await store.keep?.(claim, RECORD)).toBe(true);
  await store.release([claim]);
  const keys = (await server.command('KEYS', '*')) as string[];
  expect(keys.sort()).toEqual(['holdfast!kept:job', 'holdfast!store']);
  const left = Number(await server.command('PTTL', 'holdfast!kept:job'));
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(RECORD.ms);
  await store.close?.();
});

test('who died alone keeps nothing, though its key is still there', async () => {
  const store = redisStore(client, { afterDataLoss: 'trust' });
  const claim = claimOf('dead', { ttlMs: 100 });
  await store.claim([claim]);
  // Longer than it lives. Any other verb would bury it.
  await sleep(200);
  expect(await store.keep?.(claim, RECORD)).toBe(false);
  expect(await server.command('EXISTS', 'holdfast!kept:dead')).toBe(0);
  await store.close?.();
});

test('a record of another layout is refused, and what is no text of ours as well', async () => {
  const store = redisStore(client, { afterDataLoss: 'trust' });
  await server.command('SET', 'holdfast!kept:newer', '2...');
  await expect(store.recall?.('newer')).rejects.toMatchObject({
    ...{ code: 'STORE', retryable: false },
    message: expect.stringContaining('another layout'),
  });
  await server.command('LPUSH', 'holdfast!kept:list', 'a');
  await expect(store.recall?.('list')).rejects.toMatchObject({ code: 'STORE', retryable: false });
  await store.close?.();
});

test('in a cluster it is in the slot of its queue, whatever the name', async () => {
  const cluster = await startCluster();
  const member = new Cluster(cluster.addresses, { lazyConnect: true });
  for (const make of [redisStore, plainRedisStore]) {
    const store = make(member, { afterDataLoss: 'trust' });
    for (const name of ['a', 'b{c}', 'd}e', '{}', 'f{g', '{h}{i}', 'é😀']) {
      const claim = claimOf(name);
      await store.claim([claim]);
      expect(await store.keep?.(claim, { ...RECORD, text: name })).toBe(true);
      expect(await store.recall?.(name)).toMatchObject({ text: name });
      await store.release([claim]);
    }
    await store.close?.();
  }
  await cluster.close();
});
