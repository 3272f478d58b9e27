/** What the users of the page may do is what is needed: no less, and no more. */
import { allOf, createLocks, list } from 'holdfast';
import { once } from 'holdfast/once';
import { plainRedisStore, redisStore } from 'holdfast/redis';
import type { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { startCluster } from '../../servers/cluster.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { byIoredis, byNodeRedis, LOGIN, PLAIN_USER, QUEUE_USER, startFor } from './least-user.ts';
import { LATEST } from './packages.ts';

const CLIENTS = [
  ['ioredis', byIoredis],
  ['node-redis', byNodeRedis],
] as const;

/** What the server has refused, but for the name and version that clients tell it. */
async function refusals(server: RedisServer): Promise<unknown[]> {
  const log = (await server.command('ACL', 'LOG')) as unknown[][];
  return log.filter((entry) => !entry.includes('client|setinfo'));
}

describe('the user of the page', () => {
  test.each([
    ['ioredis', byIoredis, 'holdfast'],
    ['node-redis', byNodeRedis, 'holdfast'],
    ['ioredis, below a namespace with colons', byIoredis, 'shop:dev'],
  ] as const)('is refused nothing: %s', async (_, connect, namespace) => {
    const user = QUEUE_USER.replaceAll('holdfast', namespace);
    const { server, client, close } = await startFor(user, connect);
    const options = { afterDataLoss: 'trust', replicas: 0, namespace } as const;
    const locks = createLocks(redisStore(client, options));
    const lease = await locks.mutex('a').acquire();
    const waiting = locks.mutex('a', { fair: true }).acquire();
    await lease.release();
    await (await waiting).release();
    const work = () => once(locks, 'done', { keepFor: '1m' }, () => 1);
    expect([(await work()).state, (await work()).state]).toEqual(['ran', 'done']);
    for await (const _name of list(locks)) expect.fail('nobody is left');
    await locks.close();
    expect(await refusals(server)).toEqual([]);
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.filter((key) => !key.startsWith(`${namespace}:`))).toEqual([]);
    await close();
  });

  test('is refused nothing in a cluster', async () => {
    const cluster = await startCluster({ config: [QUEUE_USER] });
    for (const its of LATEST) {
      const client = its.cluster(cluster.addresses, LOGIN);
      const locks = createLocks(redisStore(client, { afterDataLoss: 'trust' }));
      const all = ['a', 'b', 'c', 'd'].map((name) => locks.mutex(name));
      await allOf(all).run(() => {});
      expect(await once(locks, 'e', { keepFor: '1m' }, () => 1)).toBeDefined();
      await locks.close();
    }
    for (const node of cluster.nodes) expect(await refusals(node)).toEqual([]);
    await cluster.close();
  });

  test('may do nothing else', async () => {
    const { server, client, close } = await startFor(QUEUE_USER, byIoredis);
    await server.command('SET', 'other', '1');
    const commands = [
      ...['GET other', 'SUBSCRIBE other', 'PUBLISH other 1', 'FLUSHALL', 'KEYS *'],
      ...['CONFIG GET *', 'EVAL return 0', 'SCRIPT FLUSH', 'CLIENT LIST'],
    ];
    for (const command of commands) {
      const [name = '', ...args] = command.split(' ');
      await expect((client as Redis).call(name, ...args), name).rejects.toThrow(/NOPERM/);
    }
    await close();
  });

  test.each(CLIENTS)('who may not listen is told once, and asks then: %s', async (_, connect) => {
    const user = QUEUE_USER.replace(' &holdfast:!wake:*', '');
    const { server, client, close } = await startFor(user, connect);
    const warnings = hearWarnings();
    const store = redisStore(client, { afterDataLoss: 'trust' });
    // A third of it is how long a waiter rests.
    const locks = createLocks(store, { ttl: paced(1000) });
    const mutex = locks.mutex('a', { fair: true });
    const lease = await mutex.acquire();
    const waiting = mutex.acquire();
    await until('did it wait', async () => (await locks.inspect('a')).waiters.length === 1);
    await lease.release();
    await (await waiting).release();
    for (let i = 0; i < 100; i++) await mutex.run(() => {});
    const stats = String(await server.command('INFO', 'commandstats'));
    expect(stats).toMatch(/^cmdstat_subscribe:.*rejected_calls=1,/m);
    expect(warnings.codes).toEqual(['HOLDFAST_NO_WAKE']);
    await locks.close();
    warnings.close();
    await close();
  });

  test('is told which page to read when something is missing', async () => {
    const user = QUEUE_USER.replace(' +evalsha', '');
    const { client, close } = await startFor(user, byIoredis);
    const locks = createLocks(redisStore(client));
    await expect(locks.mutex('a').acquire()).rejects.toMatchObject({
      ...{ code: 'STORE', retryable: false },
      message: expect.stringContaining('docs/stores/redis.md'),
    });
    await locks.close();
    await close();
  });

  test('of plain locks can take them, and nothing else', async () => {
    const { server, client, close } = await startFor(PLAIN_USER, byIoredis);
    const key = (name: string): string => `lock:${name}`;
    const locks = createLocks(plainRedisStore(client, { afterDataLoss: 'trust', key }));
    const lease = await locks.mutex('a').acquire();
    expect(await locks.mutex('a', { fair: true }).tryAcquire()).toBeNull();
    await lease.renew();
    expect((await locks.inspect('a')).holders).toHaveLength(1);
    const work = () => once(locks, 'done', { keepFor: '1m' }, () => 1);
    expect([(await work()).state, (await work()).state]).toEqual(['ran', 'done']);
    await lease.release();
    await locks.close();
    expect(await refusals(server)).toEqual([]);
    await expect((client as Redis).get('other')).rejects.toThrow(/NOPERM/);
    await close();
  });
});
