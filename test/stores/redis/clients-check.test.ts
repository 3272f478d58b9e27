/** What is no client, or none that could be used, is refused before anything is sent. */
import { EventEmitter } from 'node:events';
import { redisFence } from 'holdfast/fence';
import { plainRedisStore, redisStore } from 'holdfast/redis';
import { redissonStore } from 'holdfast/redisson';
import { shedlockRedisStore } from 'holdfast/shedlock';
import { springRedisStore } from 'holdfast/spring';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import {
  createClient as createClient5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from 'redis5';
import { afterAll, describe, expect, test } from 'vitest';
import { linkOf, type RedisClient } from '../../../src/clients/redis/client.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { usageErrorOf } from '../../support/failures.ts';
import { until } from '../../support/until.ts';
import { end, Links, packages } from './packages.ts';

const server = await RedisServer.start();
afterAll(() => server.close());

const CANARY = 'canary-5up3r-s3cr3t';

const refusal = (client: unknown): string =>
  usageErrorOf(() => linkOf(client as RedisClient), CANARY);

/** As the pool of the package pg looks, with its password in plain sight. */
class Pool extends EventEmitter {
  options = { password: CANARY };
  connect(): void {}
  query(): void {}
}

const ioredis = new Redis({ lazyConnect: true, password: CANARY });

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a number', 6379],
  ['an empty object', {}],
  ['the class', Redis],
  ['the options of a client', { host: 'localhost', password: CANARY }],
  ['a pool of another database', new Pool()],
  ['a pipeline', ioredis.pipeline()],
  ['a transaction of node-redis', createClient({ password: CANARY }).multi()],
  ['a pool of node-redis', createClientPool({ password: CANARY })],
  ['a promise of a client', Promise.resolve(ioredis)],
])('%s is no client', (_, value) => {
  expect(refusal(value)).toMatch(/Redis client was expected: .*ioredis.*createClient/);
});

test('a promise of a client is told to be one', () => {
  expect(refusal(Promise.resolve(ioredis))).toMatch(/await/);
});

/** As createClient of node-redis 4 looks: `destroy` came with version 5. */
class Commander extends EventEmitter {
  options = { password: CANARY };
  isOpen = false;
  connect(): void {}
  disconnect(): void {}
  duplicate(): void {}
  quit(): void {}
  sendCommand(): void {}
}

test('an old version of node-redis is named', () => {
  expect(refusal(new Commander())).toMatch(/version 4 of the package redis; version 5 is needed/);
});

const rootNodes = [{ url: 'redis://localhost' }];
const sentinels = { name: 'x', sentinelRootNodes: [{ host: 'localhost', port: 1 }] };

/** Those of both packages fit without a cast. That this compiles is the test. */
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

test('a URL is refused without being repeated, and leads to connect()', () => {
  expect(refusal(`redis://:${CANARY}@localhost`)).toMatch(/connect\(\) of holdfast\/connect/);
});

test.each(packages)('$name: one that only listens is copied, none that was closed', async (its) => {
  const client = its.server(server, { protocol: 2 });
  if ('isOpen' in client) await client.connect();
  await (client as Redis).subscribe('x', () => {});
  await using links = new Links();
  expect(await links.to(client).send('k', ['PING'])).toBe('PONG');
  await end(client);
  if ('status' in client) await until('ended', async () => client.status === 'end');
  expect(refusal(client)).toMatch(/is closed/);
});

test('one that cannot connect is a client', async () => {
  const away = new Redis({ port: 1 });
  away.on('error', () => {});
  await until('failed', async () => away.status === 'reconnecting');
  linkOf(away);
  away.disconnect();
});

const TOKEN = { lineage: 'one', token: 1n };
const PREFIX = { keyPrefix: 'shop:' };
const SHARING: readonly [name: string, share: (client: RedisClient) => unknown][] = [
  ['plain keys', (client) => plainRedisStore(client)],
  ['Redisson', (client) => redissonStore(client)],
  ['Spring', (client) => springRedisStore(client, { registryKey: 'locks' })],
  ['ShedLock', (client) => shedlockRedisStore(client)],
  ['a fence', (client) => redisFence().enter(client, { ...TOKEN, resource: 'a' })],
];

describe.each(SHARING)('%s', (_name, share) => {
  test.each<[string, () => RedisClient]>([
    ['ioredis', () => new Redis({ ...PREFIX, lazyConnect: true })],
    ['a cluster of ioredis', () => new Cluster([], { ...PREFIX, lazyConnect: true })],
    ['nodes of ioredis', () => new Cluster([], { redisOptions: PREFIX, lazyConnect: true })],
    ['node-redis', () => createClient(PREFIX)],
    ['node-redis, of bytes', () => createClient({ keyPrefix: Buffer.from('shop:') })],
    ['a cluster of node-redis', () => createCluster({ ...PREFIX, rootNodes })],
    ['Sentinels of node-redis', () => createSentinel({ ...PREFIX, ...sentinels })],
  ])('refuses the key prefix of %s, for others would have other keys', async (_, make) => {
    const message = expect.stringMatching(/"?shop:/);
    const shared = async () => share(make());
    await expect(shared).rejects.toMatchObject({ code: 'USAGE', message });
  });
});

test('the store takes such a client, for its keys are its own', () => {
  expect(() => redisStore(new Redis({ ...PREFIX, lazyConnect: true }))).not.toThrow();
});
