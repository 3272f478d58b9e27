/** What the users of the page may do is what is needed: no less, and no more. */
import { allOf, createLocks, list } from 'holdfast';
import { once } from 'holdfast/once';
import { plainRedisStore, redisStore } from 'holdfast/redis';
import type { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { hasWaiter, inTurn } from '../../methods/faults/bed.ts';
import { Lifetime } from '../../methods/faults/lifetime.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { startCluster } from '../../servers/cluster.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { paced } from '../../support/this-run.ts';
import { LOGIN, PLAIN_USER, QUEUE_USER, startFor } from './least-user.ts';
import { LATEST, type Package } from './packages.ts';

const TRUST = { afterDataLoss: 'trust' } as const;

const [ioredis, nodeRedis] = LATEST as [Package, Package];

const inBed = inTurn(() => new Lifetime());

/** What the server has refused, but for the name and version that clients tell it. */
async function refusals(server: RedisServer): Promise<unknown[]> {
  const log = (await server.command('ACL', 'LOG')) as unknown[][];
  return log.filter((entry) => !entry.includes('client|setinfo'));
}

describe('the user of the page', () => {
  test.each([
    ['ioredis', ioredis, 'holdfast'],
    ['node-redis', nodeRedis, 'holdfast'],
    ['ioredis, below a namespace with colons', ioredis, 'shop:dev'],
  ] as const)('is refused nothing: %s', async (_, its, namespace) => {
    await using bed = new Lifetime();
    const user = QUEUE_USER.replaceAll('holdfast', namespace);
    const { server, client } = bed.serve(await startFor(user, its));
    const options = { ...TRUST, replicas: 0, namespace };
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
  });

  inBed('is refused nothing in a cluster', async (bed) => {
    const cluster = bed.serve(await startCluster({ config: [QUEUE_USER] }));
    for (const its of LATEST) {
      const client = its.cluster(cluster.addresses, LOGIN);
      const locks = createLocks(redisStore(client, TRUST));
      const all = ['a', 'b', 'c', 'd'].map((name) => locks.mutex(name));
      await allOf(all).run(() => {});
      const done = await once(locks, its.name, { keepFor: '1m' }, () => 1);
      expect(done).toMatchObject({ state: 'ran' });
      await locks.close();
    }
    for (const node of cluster.nodes) expect(await refusals(node)).toEqual([]);
  });

  inBed('may do nothing else', async (bed) => {
    const { server, client } = bed.serve(await startFor(QUEUE_USER, ioredis));
    await server.command('SET', 'other', '1');
    const commands = [
      ...['GET other', 'SUBSCRIBE other', 'PUBLISH other 1', 'FLUSHALL', 'KEYS *'],
      ...['CONFIG GET *', 'EVAL return 0', 'SCRIPT FLUSH', 'CLIENT LIST'],
    ];
    for (const command of commands) {
      const [name = '', ...args] = command.split(' ');
      await expect((client as Redis).call(name, ...args), name).rejects.toThrow(/NOPERM/);
    }
  });

  test.each(LATEST)('who may not listen is told once, and asks then: $name', async (its) => {
    await using bed = new Lifetime();
    const user = QUEUE_USER.replace(' &holdfast:!wake:*', '');
    const { server, client } = bed.serve(await startFor(user, its));
    const warnings = bed.use(hearWarnings());
    // A third of it is how long a waiter rests.
    await using locks = createLocks(redisStore(client, TRUST), { ttl: paced(1000) });
    const mutex = locks.mutex('a', { fair: true });
    const lease = await mutex.acquire();
    const waiting = mutex.acquire();
    await hasWaiter(locks, 'a');
    await lease.release();
    await (await waiting).release();
    for (let i = 0; i < 100; i++) await mutex.run(() => {});
    const stats = String(await server.command('INFO', 'commandstats'));
    expect(stats).toMatch(/^cmdstat_subscribe:.*rejected_calls=1,/m);
    expect(warnings.codes).toEqual(['HOLDFAST_NO_WAKE']);
  });

  inBed('is told which page to read when something is missing', async (bed) => {
    const { client } = bed.serve(await startFor(QUEUE_USER.replace(' +evalsha', ''), ioredis));
    await using locks = createLocks(redisStore(client));
    const message = expect.stringContaining('docs/stores/redis.md');
    const refused = { code: 'STORE', retryable: false, message };
    await expect(locks.mutex('a').acquire()).rejects.toMatchObject(refused);
  });

  inBed('of plain locks can take them, and nothing else', async (bed) => {
    const { server, client } = bed.serve(await startFor(PLAIN_USER, ioredis));
    const key = (name: string): string => `lock:${name}`;
    const locks = createLocks(plainRedisStore(client, { ...TRUST, key }));
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
  });
});
