/** Servers that may lose locks, or take none: noticed before the first grant, or typed. */
import type { Store } from 'holdfast';
import { plainRedisStore, redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { claimOf, inTurn, MAX_TTL_MS, onServer, sleep, TTL_MS } from '../../methods/faults/bed.ts';
import { Scene } from '../../methods/faults/scene.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { Bed, type StoreOptions } from './bed.ts';

const inBed = inTurn(() => new Bed());
const onOwn = onServer(() => new Bed());

const REFUSED = { code: 'STORE', retryable: false, outcome: 'failed' };

/** What a first grant on this server makes the process warn of. */
async function warningsOf(bed: Bed, server: RedisServer): Promise<string[]> {
  const heard = bed.use(hearWarnings());
  const lease = await bed.patientLocks(server).mutex('first').acquire();
  await lease.release();
  // Warnings come with the next tick.
  await sleep(0);
  return heard.codes;
}

async function expectRefused(bed: Bed, server: RedisServer, options: StoreOptions): Promise<void> {
  const lock = bed.patientLocks(server, options).mutex('refused');
  await expect(lock.acquire()).rejects.toMatchObject(REFUSED);
  await expect(lock.tryAcquire()).rejects.toMatchObject(REFUSED);
  expect(await server.command('EXISTS', 'holdfast::refused')).toBe(0);
}

// One after the other, for warnings are the whole process's.
describe('a server', () => {
  test.each(['allkeys-lru', 'volatile-lru', 'volatile-ttl'])('that evicts (%s)', async (policy) => {
    await using bed = new Bed();
    const config = ['maxmemory 100mb', `maxmemory-policy ${policy}`];
    const server = await bed.server({ config });
    expect(await warningsOf(bed, server)).toEqual(['HOLDFAST_EVICTION']);
    await expectRefused(bed, server, { onHazard: 'refuse' });
  });

  inBed('that only refuses writes when it is full is no hazard', async (bed) => {
    const server = await bed.server({ config: ['maxmemory 100mb'] });
    expect(await warningsOf(bed, server)).toEqual([]);
    await (
      await bed.patientLocks(server, { onHazard: 'refuse' }).mutex('good').acquire()
    ).release();
  });

  inBed('that is a replica takes no locks', async (bed) => {
    const server = await bed.server();
    await server.command('REPLICAOF', '127.0.0.1', 1);
    await expectRefused(bed, server, {});
  });

  inBed('of a cluster takes no locks of a plain client', async (bed) => {
    const server = bed.serve(await RedisServer.start({ config: ['cluster-enabled yes'] }));
    await expect(bed.patientLocks(server).mutex('a').acquire()).rejects.toMatchObject(REFUSED);
  });
});

describe('programs with different maxTtl', () => {
  const calls: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
    claim: (store) => store.claim([claimOf('a')]),
    renew: (store) => store.renew([claimOf('a')]),
    inspect: (store) => store.inspect('a'),
  };

  test.each(Object.entries({ redisStore, plainRedisStore }))(
    '%s: the one with the smaller one is told when it claims, renews or looks',
    async (_, form) => {
      await using bed = new Bed();
      const { host, port } = await bed.server();
      const open = (maxTtl: number): Store =>
        bed.use(form(new Redis({ host, port, lazyConnect: true }), { maxTtl }));
      const heard = bed.use(hearWarnings());
      const before = open(MAX_TTL_MS);
      await before.inspect('a');
      await open(2 * MAX_TTL_MS).inspect('a');
      await sleep(0);
      expect(heard.codes).toEqual([]);
      await before.inspect('a');
      await before.inspect('a');
      await sleep(0);
      expect(heard.codes).toEqual(['HOLDFAST_MAX_TTL']);
      for (const [verb, call] of Object.entries(calls)) {
        heard.codes.length = 0;
        await call(open(MAX_TTL_MS));
        await sleep(0);
        expect(heard.codes, verb).toEqual(['HOLDFAST_MAX_TTL']);
      }
    },
  );
});

onOwn('memory is full: heartbeats and releases work, new claims fail', async (bed, server) => {
  const scene = await Scene.set(bed, { holder: server, others: server });
  await server.command('CONFIG', 'SET', 'maxmemory', 1);
  const lock = bed.patientLocks(server).mutex('new');
  const failed = { code: 'STORE', outcome: 'failed', message: expect.stringContaining('OOM') };
  await expect(lock.tryAcquire()).rejects.toMatchObject(failed);
  await expect(lock.acquire({ wait: TTL_MS / 2 })).rejects.toMatchObject({
    code: 'ACQUIRE_TIMEOUT',
  });
  // Longer than a TTL: without heartbeats the leases would be dead.
  await sleep(TTL_MS * 1.2);
  expect(scene.reasons).toEqual([undefined, undefined]);
  await scene.queued.lease.release();
  const next = await scene.next;
  expect(next.token).toBeGreaterThan(scene.queued.lease.token);
  await scene.probed.lease.release();
  expect(await server.command('EXISTS', 'holdfast::probed')).toBe(0);
  await server.command('CONFIG', 'SET', 'maxmemory', 0);
  await (await lock.acquire()).release();
  await scene.leave(server);
});

describe('a key that is taken by something else', () => {
  const others: readonly [string, ...string[]][] = [
    ['SET', 'holdfast::bad', 'a text'],
    ['SET', 'holdfast::bad', 'fedcba9876543210m 1'],
    ['RPUSH', 'holdfast::bad', 'an element'],
    ['SADD', 'holdfast::bad', 'an element'],
    ['HSET', 'holdfast::bad', 'field', 'value'],
    ['HSET', 'holdfast::bad', '#', 'value'],
    ['HSET', 'holdfast::bad', '#', ''],
    ['EVAL', "redis.call('HSET', KEYS[1], '#', cmsgpack.pack({}))", '1', 'holdfast::bad'],
    ['ZADD', 'holdfast::bad', '1', 'member'],
    ['XADD', 'holdfast::bad', '*', 'field', 'value'],
  ];

  async function statesOf(answers: ReturnType<Store['claim']>): Promise<string[]> {
    return (await answers).map(({ state }) => state);
  }

  test.concurrent.each(others)('%s: its claim errs alone', async (...command) => {
    await using bed = new Bed();
    const server = await bed.server();
    await server.command(...command);
    const before = await server.command('DUMP', 'holdfast::bad');
    const store = bed.store(server);
    const all = ['a', 'bad', 'c'].map((name) => claimOf(name));
    const claimed = await store.claim(all);
    expect(claimed.map(({ state }) => state)).toEqual(['held', 'error', 'held']);
    const message = expect.stringContaining('WRONGTYPE');
    expect(claimed[1]).toMatchObject({ error: { code: 'STORE', retryable: false, message } });
    expect(await statesOf(store.renew(all))).toEqual(['held', 'error', 'held']);
    const looks = await Promise.allSettled(all.map(({ resource }) => store.inspect(resource)));
    expect(looks.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await store.release(all)).toEqual([true, false, true]);
    await expect(store.inspect('bad')).rejects.toMatchObject({ code: 'STORE', retryable: false });
    for await (const name of store.list!('')) expect(name).toBe('nothing');
    expect(await server.command('DUMP', 'holdfast::bad')).toEqual(before);
    expect(await server.command('KEYS', 'holdfast::*')).toEqual(['holdfast::bad']);
  });

  onOwn('a queue with claims of garbage: whoever meets them errs alone', async (bed, server) => {
    const store = bed.store(server);
    const [holder, first, last] = ['bad', 'bad', 'bad'].map((name) => claimOf(name));
    for (const claim of [holder!, first!, last!]) await store.claim([claim]);
    await server.command('HSET', 'holdfast::bad', first!.id, 'garbage', last!.id, 'garbage');
    // The holder lets the first in, a newcomer stands behind the last.
    for (const claim of [claimOf('bad'), first!, last!, holder!]) {
      const batch = [claimOf('a'), claim, claimOf('c')];
      expect(await statesOf(store.claim(batch))).toEqual(['held', 'error', 'held']);
      expect(await statesOf(store.renew(batch))).toEqual(['held', 'error', 'held']);
      expect(await store.release(batch)).toEqual([true, false, true]);
    }
    await expect(store.inspect('bad')).rejects.toMatchObject({ code: 'STORE', retryable: false });
  });

  onOwn('a claim without its parts: a release says why, others go on', async (bed, server) => {
    const store = bed.store(server);
    const [holder, first, other] = ['bad', 'bad', 'c'].map((name) => claimOf(name));
    for (const claim of [holder!, first!, other!]) await store.claim([claim]);
    const spoil = "redis.call('HSET', KEYS[1], ARGV[1], cmsgpack.pack({}))";
    await server.command('EVAL', spoil, '1', 'holdfast::bad', first!.id);
    await expect(store.release([holder!, other!])).rejects.toMatchObject({
      ...{ code: 'STORE', outcome: 'failed', retryable: false },
      message: expect.stringContaining('refused this claim alone'),
    });
    expect(await store.release([other!])).toEqual([false]);
  });

  onOwn('while a lease is held there: the holder is told by its clock', async (bed, server) => {
    const lease = await patiently(bed.locks(server).mutex('overwritten'));
    await server.command('SET', 'holdfast::overwritten', 'a text');
    await until('was it lost', async () => lease.loss?.reason === 'expired');
  });

  test.concurrent.each<[string, object, [string, ...string[]]]>([
    ['a list', {}, ['RPUSH', 'holdfast:!record', 'an element']],
    [
      'of a later layout',
      { outcome: 'failed', message: expect.stringContaining('another layout') },
      ['SET', 'holdfast:!record', '9'.repeat(130)],
    ],
  ])('the record of the store is %s: nothing is granted', async (_, more, command) => {
    await using bed = new Bed();
    const server = await bed.server();
    await server.command('DEL', 'holdfast:!record');
    await server.command(...command);
    const lock = bed.patientLocks(server).mutex('a');
    const refused = { code: 'STORE', retryable: false, ...more };
    await expect(lock.acquire()).rejects.toMatchObject(refused);
    expect(await server.command('EXISTS', 'holdfast::a')).toBe(0);
  });
});
