/** Grants that replicas must have. */
import { createLocks } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { patiently } from '../../methods/faults/scene.ts';
import { type Replicated, startReplicated } from '../../servers/topologies.ts';
import { paced } from '../../support/this-run.ts';

let servers: Replicated;
let client: Redis;

beforeEach(async () => {
  servers = await startReplicated({ config: ['min-replicas-to-write 0'] });
  client = new Redis(servers.primary.url);
});
afterEach(async () => {
  client.disconnect();
  await servers.close();
});

const open = (replicas: number) => redisStore(client, { afterDataLoss: 'trust', replicas });

it('nothing is granted while too few follow, and everything goes on when they do', async () => {
  // Replicas have a sixth of it; the rest is for a busy machine, to ask and to be answered.
  const locks = createLocks(open(1), { ttl: paced(8000) });
  await (await patiently(locks.mutex('connected'))).release();
  for (const replica of servers.replicas) replica.pause();
  expect(
    await locks
      .mutex('a')
      .tryAcquire()
      .catch((error) => error),
  ).toMatchObject({
    code: 'STORE',
    retryable: true,
    message: expect.stringContaining('replicas'),
  });
  const waiting = patiently(locks.mutex('a'));
  for (const replica of servers.replicas) replica.resume();
  const lease = await waiting;
  expect(lease).toHaveProperty('held', true);
  await lease.release();
  await locks.close();
});

it('a lease ends when its heartbeats reach too few', async () => {
  const locks = createLocks(open(2), { ttl: paced(1500) });
  // On a busy machine a replica may be late for a grant; then nothing is granted yet.
  const lease = await patiently(locks.mutex('a'));
  servers.replicas[0]?.pause();
  await expect.poll(() => lease.state).toBe('lost');
  servers.replicas[0]?.resume();
  await locks.close();
});

it('what is kept is on the replicas, or nobody is told that it is kept', async () => {
  const store = open(2);
  const claim = claimOf('a');
  const [status] = await store.claim([claim]);
  expect(status).toMatchObject({ state: 'held' });
  const record = { text: 'done', ms: 60_000 };
  expect(await store.keep?.(claim, record)).toBe(true);
  for (const replica of servers.replicas) {
    expect(await replica.command('GET', 'holdfast!kept:a')).toBe('1done');
  }
  servers.replicas[0]?.pause();
  await expect(store.keep?.(claim, { ...record, text: 'again' })).rejects.toMatchObject({
    ...{ code: 'STORE', retryable: true, outcome: 'unknown' },
  });
  servers.replicas[0]?.resume();
  await store.close?.();
});
