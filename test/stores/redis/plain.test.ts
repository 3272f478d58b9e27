/** Plain locks, and those of Spring and ShedLock, beside programs that know nothing of ours. */
import { createLocks, type Store } from 'holdfast';
import { quorum } from 'holdfast/quorum';
import { type PlainRedisOptions, plainRedisStore } from 'holdfast/redis';
import { shedlockRedisStore } from 'holdfast/shedlock';
import { springRedisStore } from 'holdfast/spring';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimOf, sleep } from '../../methods/faults/bed.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { SteppedClock } from '../../servers/stepped-clock.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';
import { FOREIGN_LOCKS } from './foreign-locks.ts';
import { LATEST } from './packages.ts';

/** Long enough for nothing to expire by itself within a test. */
const LONG_MS = 20_000;

let bed: Bed;
let server: RedisServer;
let client: Redis;

beforeEach(async () => {
  bed = new Bed();
  server = bed.serve(await RedisServer.start());
  client = new Redis(server.url);
  bed.use({ close: () => client.disconnect() });
});
afterEach(() => bed[Symbol.asyncDispose]());

function open(options: PlainRedisOptions = {}): Store {
  return bed.use(plainRedisStore(client, { afterDataLoss: 'trust', ...options }));
}

const claim = (over: Partial<Claim> = {}): Claim => claimOf('a', { ttlMs: LONG_MS, ...over });

function told([status]: readonly ClaimStatus[]): string {
  return status?.state === 'gone' ? `gone, ${status.why}` : (status?.state ?? 'no answer');
}

async function enter(store: Store, each: Claim): Promise<string> {
  return told(await store.claim([each]));
}

async function beat(store: Store, each: Claim): Promise<string> {
  return told(await store.renew([each]));
}

describe.each(FOREIGN_LOCKS)('beside $name', ({ keyOf, take }) => {
  const key = keyOf('a');

  it('what one holds, the other does not get', async () => {
    const store = open({ key: keyOf });
    const ours = claim();
    expect(await enter(store, ours)).toBe('held');
    expect(await take(client, 'a', LONG_MS)).toBeUndefined();
    expect(await store.release([ours])).toEqual([true]);

    const theirs = await take(client, 'a', LONG_MS);
    expect(theirs).toBeDefined();
    expect(await enter(store, claim({ queue: false }))).toBe('gone, refused');
    expect(await enter(store, claim())).toBe('waiting');
    expect(await theirs?.release()).toBe(true);
    expect(await enter(store, claim())).toBe('held');
  });

  it('neither prolongs, shortens nor ends what the other holds', async () => {
    const store = open({ key: keyOf });
    const stranger = claim({ ttlMs: 50_000 });
    const theirs = await take(client, 'a', LONG_MS);
    expect(await beat(store, stranger)).toBe('gone, expired');
    expect(await store.release([stranger])).toEqual([false]);
    expect(await store.release([stranger], { ms: 10 })).toEqual([false]);
    expect(await client.pttl(key)).toBeGreaterThan(LONG_MS / 2);
    expect(await client.pttl(key)).toBeLessThanOrEqual(LONG_MS);
    expect(await theirs?.extend(2 * LONG_MS)).toBe(true);
    await theirs?.release();

    const ours = claim();
    expect(await enter(store, ours)).toBe('held');
    expect(await theirs?.extend(10)).toBe(false);
    expect(await theirs?.release()).toBe(false);
    expect(await beat(store, ours)).toBe('held');
  });

  it('shows that another program holds, for how long at most, and not its value', async () => {
    const store = open({ key: keyOf });
    await take(client, 'a', LONG_MS);
    const value = String(await client.get(key));
    const { holders, waiters, limit } = await store.inspect('a');
    expect([holders.length, waiters.length, limit]).toEqual([1, 0, 1]);
    expect(holders[0]?.holder.label).toBe('another program');
    expect(holders[0]?.leftMs).toBeGreaterThan(LONG_MS / 2);
    expect(JSON.stringify(holders[0]?.holder)).not.toContain(value);
  });
});

describe('a plain lock', () => {
  it('has the key that it is told, made of the name with its prefix', async () => {
    const store = open({ key: (name) => `locks:{${name}}` });
    await createLocks(store, { prefix: 'shop/' }).mutex('order').acquire();
    expect(await client.exists('locks:{shop/order}')).toBe(1);
    expect(await client.exists('shop/order')).toBe(0);
  });

  it('has no other key than the record of the store, and leaves nothing else', async () => {
    const store = open();
    const ours = claim();
    await enter(store, ours);
    expect((await client.keys('*')).sort()).toEqual(['a', 'holdfast:!record:shared']);
    await store.release([ours]);
    expect(await client.keys('*')).toEqual(['holdfast:!record:shared']);
    await store.release([ours]);
    expect(await client.pttl(`holdfast:!gone:${ours.id}`)).toBeGreaterThan(0);
  });

  it('under a key without an end is waited for, and asked for again', async () => {
    await client.setnx('a', 'somebody who set no end');
    const store = open();
    const [status] = await store.claim([claim()]);
    expect(status).toMatchObject({ state: 'waiting', why: 'queue' });
    expect(status?.state === 'waiting' && status.retryInMs).toBeLessThanOrEqual(150);
    const wait = createLocks(store).mutex('a').acquire();
    await client.del('a');
    expect(await wait).toHaveProperty('held', true);
  });

  it('does not poll faster than the time that the holder has left', async () => {
    await client.set('a', 'somebody', 'PX', LONG_MS);
    const [status] = await open({ retry: '1h' }).claim([claim()]);
    const retryInMs = status?.state === 'waiting' ? status.retryInMs : 0;
    expect(retryInMs).toBeGreaterThan(LONG_MS / 2);
    expect(retryInMs).toBeLessThanOrEqual(LONG_MS);
  });

  it('under a key of another type fails alone', async () => {
    await client.hset('hash', 'field', '1');
    const store = open();
    const [first, second] = await store.claim([claim({ resource: 'hash' }), claim()]);
    expect(first).toMatchObject({ state: 'error', error: { retryable: false } });
    expect(second).toMatchObject({ state: 'held' });
    expect((await store.inspect('hash')).holders).toEqual([]);
    expect(await store.release([claim({ resource: 'hash' })])).toEqual([false]);
    expect(await client.hget('hash', 'field')).toBe('1');
  });

  it('takes no permits and no readers, also where core did not ask', async () => {
    const store = open();
    const [status] = await store.claim([claim({ kind: 'permits', limit: 3 })]);
    expect(status).toMatchObject({ state: 'error', error: { retryable: false } });
    const permits = createLocks(store).semaphore('a', { limit: 3 }).acquire();
    await expect(permits).rejects.toMatchObject({ code: 'UNSUPPORTED', trait: 'permits' });
  });

  it("has tokens that grow although the server's clock is set back", async () => {
    const clock = bed.serve(await SteppedClock.create());
    const { url } = bed.serve(await RedisServer.start({ env: clock.env }));
    const near = new Redis(url, { lazyConnect: true });
    const store = bed.use(plainRedisStore(near, { afterDataLoss: 'trust' }));
    let last = 0n;
    for (let i = 0; i < 6; i++) {
      if (i === 3) clock.step(-60_000);
      const ours = claim();
      const [status] = await store.claim([ours]);
      const token = status?.state === 'held' ? status.token : 0n;
      expect(token).toBeGreaterThan(last);
      last = token;
      await store.release([ours]);
    }
  });

  it('fails at a name for which there is no key', async () => {
    const store = open({ key: () => '' });
    await expect(createLocks(store).mutex('a').acquire()).rejects.toThrow(/must return text/);
    for (const verb of ['renew', 'release'] as const) {
      await expect(store[verb]([claim()])).rejects.toThrow(/must return text/);
    }
  });

  it('refuses a name that would be a key of its own, unsent', async () => {
    await using locks = createLocks(open());
    const [good, bad] = await Promise.allSettled([
      locks.mutex('beside').acquire(),
      locks.mutex('holdfast:!record').acquire(),
    ]);
    expect(good).toMatchObject({ value: { held: true } });
    const refused = { cause: { code: 'USAGE' }, retryable: false, outcome: 'failed' };
    expect(bad).toMatchObject({ reason: refused });
  });
});

it('a majority of them is what node-redlock takes on the same servers', async () => {
  const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
  const clients = servers.map((server) => new Redis(bed.serve(server).url));
  for (const client of clients) bed.use({ close: () => client.disconnect() });
  const members = clients.map((client) => plainRedisStore(client, { afterDataLoss: 'trust' }));
  const locks = bed.locksOn(quorum(members), 30_000);
  const redlock = new Redlock(clients, { retryCount: 0 });

  const ours = await locks.mutex('a').acquire();
  await expect(redlock.acquire(['a'], 10_000)).rejects.toThrow();
  await ours.release();

  const theirs = await redlock.acquire(['a'], 10_000);
  expect(await locks.mutex('a').tryAcquire()).toBeNull();
  const waiting = locks.mutex('a').acquire();
  await theirs.release();
  expect(await waiting).toHaveProperty('held', true);
});

const TRUST = { afterDataLoss: 'trust' } as const;

describe('a registry of Spring', () => {
  const open = (given: Parameters<typeof springRedisStore>[0] = client): Store =>
    bed.use(springRedisStore(given, { registryKey: 'shop?', retry: '1h', maxTtl: '1h', ...TRUST }));

  it('is told of a release, with the key, and not of what was not released', async () => {
    const store = open();
    const heard: string[] = [];
    const ear = new Redis(server.url);
    bed.use({ close: () => ear.disconnect() });
    ear.on('pmessage', (_, channel, message) => heard.push(`${channel} ${message}`));
    await ear.psubscribe('shop\\?-channel:*');
    const claim = claimOf('order');
    await store.claim([claim]);
    await store.release([claimOf('order')]);
    await store.renew([claim]);
    await store.release([claim]);
    await expect.poll(() => heard).toEqual(['shop?-channel:shop?:order shop?:order']);
  });

  it.each(LATEST)('tells us of its releases, through $name', async (its) => {
    await client.set('shop?:order', 'a registry');
    // Neither a heartbeat nor another try comes within the test.
    await using locks = createLocks(open(its.server(server)), { ttl: '1h' });
    const waiting = locks.mutex('order').acquire();
    await sleep(200);
    await client.del('shop?:order');
    // Of another lock.
    await client.publish('shop?-channel:shop?:other', 'shop?:other');
    await client.publish('shop?-channel:shop?:order', 'shop?:order');
    const lease = await waiting;
    expect(lease).toHaveProperty('held', true);
    await lease.release();
  });

  it('tells us again once we can listen, who could not', async () => {
    const proxy = bed.use(await TcpProxy.start(server.port));
    const store = open(LATEST[0]!.server(proxy));
    // Its connection for claims stays.
    await store.claim([claimOf('other')]);
    await client.set('shop?:order', 'a registry');
    proxy.refuse();
    const waits = claimOf('order');
    let heard = 0;
    await store.watch?.(waits, () => heard++);
    expect(await store.claim([waits])).toMatchObject([{ state: 'waiting' }]);
    expect(heard).toBe(0);
    await proxy.accept();
    // It may have missed a message.
    await until('was it woken', async () => heard > 0);
    heard = 0;
    await client.publish('shop?-channel:shop?:order', 'shop?:order');
    await until('did a message come', async () => heard > 0);
  });
});

it.each([
  [{}, 'job-lock:default:nightly'],
  [{ environment: 'test', keyPrefix: 'jobs' }, 'jobs:test:nightly'],
  [{ name: (name: string) => name.toUpperCase() }, 'job-lock:default:NIGHTLY'],
])('ShedLock with %o has the key %s', async (options, key) => {
  const store = bed.use(shedlockRedisStore(client, { ...TRUST, ...options }));
  await store.claim([claimOf('nightly')]);
  expect(await client.exists(key)).toBe(1);
});
