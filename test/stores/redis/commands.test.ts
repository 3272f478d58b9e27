/** What the store asks of the server: how much, and where it leaves something. */
import { randomBytes } from 'node:crypto';
import { createLocks, type Store } from 'holdfast';
import { plainRedisStore, type RedisOptions, redisStore } from 'holdfast/redis';
import { type Claim, type ClaimStatus, MAX_PERMITS } from 'holdfast/store';
import { Cluster, Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimOf, LONG_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { startCluster } from '../../servers/cluster.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { listed } from '../../support/listed.ts';
import { paced } from '../../support/this-run.ts';
import { Bed, upFor } from './bed.ts';

const TRUST = { afterDataLoss: 'trust' } as const;

let bed: Bed;
let server: RedisServer;

beforeEach(async () => {
  bed = new Bed();
  server = bed.serve(await RedisServer.start());
});
afterEach(() => bed[Symbol.asyncDispose]());

type Form = typeof redisStore | typeof plainRedisStore;

function open(options: RedisOptions = {}, form: Form = redisStore): Store {
  const client = new Redis(server.url, { lazyConnect: true });
  return bed.use(form(client, { ...TRUST, ...options }));
}

function claim(over: Partial<Claim> = {}): Claim {
  return claimOf('a', { ttlMs: 10_000, secret: randomBytes(16).toString('hex'), ...over });
}

const WRITER = { kind: 'write', permits: MAX_PERMITS, limit: MAX_PERMITS } as const;

/** How often each command was carried out since the last look, within scripts or not. */
async function counts(): Promise<Record<string, number>> {
  const info = String(await server.command('INFO', 'commandstats'));
  await server.command('CONFIG', 'RESETSTAT');
  const found = info.matchAll(/cmdstat_(\S+?):calls=(\d+)/g);
  return Object.fromEntries([...found].map(([, name = '', calls]) => [name, Number(calls)]));
}

/** A store whose scripts the server knows. */
async function ready(): Promise<Store> {
  const store = open();
  const one = await enter(store, { resource: 'first' });
  await store.renew([one]);
  await store.release([one]);
  await counts();
  return store;
}

async function enter(store: Store, over: Partial<Claim>): Promise<Claim> {
  const one = claim(over);
  const [status] = await store.claim([one]);
  expect(['held', 'waiting']).toContain(status?.state);
  return one;
}

describe('what it costs', () => {
  it('two commands an acquisition, and only the record stays', async () => {
    await using locks = createLocks(open());
    await locks.mutex('a').run(() => {});
    await counts();
    for (let i = 0; i < 10; i++) await locks.mutex('a').run(() => {});
    const { evalsha, publish } = await counts();
    expect({ evalsha, publish }).toEqual({ evalsha: 20, publish: undefined });
    expect(await server.command('KEYS', '*')).toEqual(['holdfast:!record']);
  });

  it('one command for a hundred claims', async () => {
    const store = await ready();
    const claims = Array.from({ length: 100 }, (_, i) => claim({ resource: `r${i}` }));
    await store.claim(claims);
    await store.renew(claims);
    await store.release(claims);
    expect((await counts()).evalsha).toBe(3);
  });

  it('one command for 32 looks, whether each is asked for or they are for a list', async () => {
    const store = await ready();
    const names = Array.from({ length: 64 }, (_, i) => `r${i}`);
    await store.claim(names.map((resource) => claim({ resource })));
    await store.inspect('first');
    await counts();
    const queues = await Promise.all(names.map((name) => store.inspect(name)));
    const seen = queues.map(({ resource, holders }) => `${resource} ${holders.length}`);
    expect(seen).toEqual(names.map((name) => `${name} 1`));
    expect((await counts()).evalsha).toBe(2);
    expect((await listed(store.list?.(''))).sort()).toEqual(names.sort());
    expect((await counts()).evalsha).toBe(2);
  });

  it('one command and one message a hand-off, however many wait', async () => {
    const store = await ready();
    const work: number[] = [];
    for (const waiting of [10, 500]) {
      const resource = `crowd of ${waiting}`;
      const first = claim({ resource });
      await store.watch?.(first, () => {});
      await store.claim([first]);
      const others: Claim[] = [];
      const hints: { claim: Claim; status: ClaimStatus | undefined }[] = [];
      for (let i = 0; i < waiting; i++) {
        const one = claim({ resource });
        await store.watch?.(one, (status) => hints.push({ claim: one, status }));
        await store.claim([one]);
        others.push(one);
      }
      await counts();
      await store.release([first]);
      const used = await counts();
      // It has been told: the message was sent before the answer, on another connection.
      await expect.poll(() => hints.length).toBe(2);
      expect(hints.map((hint) => hint.claim)).toEqual(others.slice(0, 2));
      expect(hints.map(({ status }) => status?.state)).toEqual(['held', 'waiting']);
      expect(used).toMatchObject({ evalsha: 1, publish: 1 });
      work.push(Object.values(used).reduce((sum, calls) => sum + calls, 0));
    }
    expect(work[1]).toBe(work[0]);
  });

  it.each([
    ['none for a mutex', {}, undefined],
    ['one for a writer, who may be a reader in lost data', WRITER, 1],
    ['one for a hold that may have been lost before its end', { secret: undefined }, 1],
  ] as const)('looks at the server for a hand-off: %s', async (_, over, looks) => {
    const store = await ready();
    const first = await enter(store, over);
    const second = await enter(store, over);
    // After a second without a number, any script would look.
    await enter(store, { resource: 'other' });
    await counts();
    expect(await store.release([first])).toEqual([true]);
    expect((await counts()).info).toBe(looks);
    const takeover = { reason: 'released' };
    expect(await store.renew([second])).toMatchObject([{ state: 'held', takeover }]);
  });
});

describe('what it leaves', () => {
  it.each(['hash', 'string'])('nothing behind a %s once all have left', async (form) => {
    const store = open();
    const first = await enter(store, {});
    const second = form === 'hash' ? await enter(store, {}) : undefined;
    expect(await server.command('TYPE', 'holdfast::a')).toBe(form);
    await store.release([first]);
    if (second) await store.release([second]);
    expect(await server.command('EXISTS', 'holdfast::a')).toBe(0);
  });

  it('a dead holder for some minutes, so that the next one learns of it', async () => {
    const store = open();
    await enter(store, { ttlMs: 1 });
    expect(await server.command('PTTL', 'holdfast::a')).toBeGreaterThan(500_000);
    const [status] = await store.claim([claim()]);
    expect(status).toMatchObject({ state: 'held', takeover: { reason: 'expired' } });
    expect(await server.command('PTTL', 'holdfast::a')).toBeGreaterThan(500_000);
  });

  it('a tombstone for one TTL', async () => {
    const store = open();
    const one = claim({ ttlMs: 5_000, unanswered: true });
    expect(await store.release([one])).toEqual([false]);
    expect(await server.command('PTTL', 'holdfast::a')).toBeLessThanOrEqual(5_000);
    expect(await store.claim([one])).toMatchObject([{ state: 'gone', why: 'unknown' }]);
  });
});

describe('tokens', () => {
  async function record(): Promise<{ readonly highest: number; raise(by: number): Promise<void> }> {
    const text = String(await server.command('GET', 'holdfast:!record'));
    const highest = Number(text.slice(54, 70));
    return {
      highest,
      async raise(by) {
        const raised = `${text.slice(0, 54)}${highest + by}${text.slice(70)}`;
        await server.command('SET', 'holdfast:!record', raised);
      },
    };
  }

  it('are refused where they would not grow any more', async () => {
    const store = open();
    await store.release([await enter(store, {})]);
    const { highest, raise } = await record();
    await raise(2 ** 53 - 1 - highest);
    const message = expect.stringContaining('2^53');
    const refused = { retryable: false, outcome: 'failed', message };
    await expect(store.claim([claim()])).rejects.toMatchObject(refused);
    expect(await server.command('EXISTS', 'holdfast::a')).toBe(0);
  });

  it('of claims that hold alone are in the record at once', async () => {
    const store = open();
    await enter(store, {});
    // In the last batch, one waits.
    for (const batch of [[claim({ resource: 'b' })], [claim(), claim({ resource: 'c' })]]) {
      const status = (await store.claim(batch)).at(-1);
      const { highest } = await record();
      expect(status).toMatchObject({ state: 'held' });
      if (status?.state === 'held') expect(BigInt(highest)).toBeGreaterThanOrEqual(status.token);
    }
  });

  it.each([
    ['a look', (store: Store) => store.inspect('b')],
    ['a claim', (store: Store) => store.claim([claim({ resource: 'b' })])],
    ['a heartbeat', (store: Store, own: Claim) => store.renew([own])],
  ])('of claims whose holder died are remembered by %s', async (_, verb) => {
    const store = open();
    const other = await enter(store, { resource: 'c' });
    const [status] = await store.claim([claim({ ttlMs: 1 })]);
    expect(status).toMatchObject({ state: 'held' });
    // The record follows the clock once a second.
    await sleep(1_100);
    await verb(store, other);
    const { highest } = await record();
    if (status?.state === 'held') expect(BigInt(highest)).toBeGreaterThan(status.token);
  });
});

describe('a server without a record', () => {
  const MAX_TTL_MS = 1_000;

  it.each([
    ['was just started', [], 'data-loss', false],
    ['has been up for long, and knows no scripts', [], 'held', true],
    ['was flushed', ['FLUSHALL'], 'data-loss', true],
    ['may have been flushed', ['CONFIG', 'RESETSTAT'], 'data-loss', true],
    ['was a replica once', ['REPLICAOF', 'NO', 'ONE'], 'data-loss', true],
  ] as const)('%s', async (_, [verb, ...args], expected, old) => {
    // For longer than any lease lives.
    if (old) await upFor(server, 2);
    if (verb) await server.command(verb, ...args);
    // One that was just started is not old yet, however late it is asked.
    const store = open({ afterDataLoss: 'wait', maxTtl: old ? MAX_TTL_MS : LONG_TTL_MS });
    const one = claim({ ttlMs: paced(900) });
    const [status] = await store.claim([one]);
    if (expected === 'held') return expect(status?.state).toBe('held');
    expect(status).toMatchObject({ state: 'waiting', why: 'data-loss' });
  });
});

describe('what is kept of work that is done', () => {
  const RECORD = { text: 'done', ms: 60_000 };

  it.each([
    ['queues', redisStore, 'holdfast:!record', 'holdfast:!kept:job'],
    ['plain locks', plainRedisStore, 'holdfast:!record:shared', 'holdfast:!kept/shared:job'],
  ])('%s: the key of a record ends with it, and no other is left', async (_, form, own, kept) => {
    const store = open({}, form);
    const job = claim({ resource: 'job' });
    await store.claim([job]);
    expect(await store.keep?.(job, RECORD)).toBe(true);
    await store.release([job]);
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.sort()).toEqual([kept, own]);
    const left = Number(await server.command('PTTL', kept));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(RECORD.ms);
  });

  it('of a plain lock is not that of the queue with its name', async () => {
    const [queues, plain] = [open(), open({}, plainRedisStore)];
    const job = claim({ resource: 'job' });
    await plain.claim([job]);
    expect(await plain.keep?.(job, RECORD)).toBe(true);
    expect(await queues.recall?.('job')).toBeUndefined();
    expect(await plain.recall?.('job')).toMatchObject({ text: RECORD.text });
  });

  it('is nothing of who died alone, though its key is still there', async () => {
    const store = open();
    const dead = await enter(store, { ttlMs: 100 });
    // Longer than it lives. Any other verb would bury it.
    await sleep(200);
    expect(await store.keep?.(dead, RECORD)).toBe(false);
    expect(await server.command('EXISTS', 'holdfast:!kept:a')).toBe(0);
  });

  it('of another layout is refused, and what is no text of ours as well', async () => {
    const store = open();
    await server.command('SET', 'holdfast:!kept:newer', '2...');
    const refused = { code: 'STORE', retryable: false };
    const message = expect.stringContaining('another layout');
    await expect(store.recall?.('newer')).rejects.toMatchObject({ ...refused, message });
    await server.command('LPUSH', 'holdfast:!kept:list', 'a');
    await expect(store.recall?.('list')).rejects.toMatchObject(refused);
  });

  it('is in the slot of its queue in a cluster, whatever the name', async () => {
    const cluster = bed.serve(await startCluster());
    const member = new Cluster(cluster.addresses, { lazyConnect: true });
    for (const make of [redisStore, plainRedisStore]) {
      const store = bed.use(make(member, TRUST));
      for (const name of ['a', 'b{c}', 'd}e', '{}', 'f{g', '{h}{i}', 'é😀']) {
        const one = await enter(store, { resource: name });
        expect(await store.keep?.(one, { ...RECORD, text: name })).toBe(true);
        expect(await store.recall?.(name)).toMatchObject({ text: name });
        await store.release([one]);
      }
    }
  });
});
