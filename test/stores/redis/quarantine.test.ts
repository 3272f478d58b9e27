/** After which events a server grants nothing for a while, and after which it does. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from 'holdfast';
import { plainRedisStore, redisStore } from 'holdfast/redis';
import type { Claim } from 'holdfast/store';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { claimOf, inBeds, LONG_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { startReplicated } from '../../servers/topologies.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed, type StoreOptions, upFor } from './bed.ts';
import { backUp, type Hidden, hiding } from './odd-redis.ts';
import { LATEST } from './packages.ts';

const inBed = inBeds(() => new Bed());

/** After a second without a script, what has run meanwhile is looked at. */
const UNSEEN_MS = paced(1100);

/** Longer than a test: who waits for it is not granted anything by the end. */
const patient = (bed: Bed, server: RedisServer, options: StoreOptions = {}): Store =>
  bed.store(server, { maxTtl: LONG_TTL_MS, ...options });

/** `held`, or why not. */
async function claimed(store: Store, over: Partial<Claim> = {}): Promise<string> {
  const [status] = await store.claim([
    claimOf(`of ${Math.random()}`, { ttlMs: paced(1000), ...over }),
  ]);
  return status?.state === 'waiting' ? status.why : (status?.state ?? 'nothing');
}

async function field(server: RedisServer, name: string): Promise<string | undefined> {
  const info = String(await server.command('INFO', 'replication'));
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
}

/** These commands, one after the other. */
function sent(...lines: readonly string[]): (server: RedisServer) => Promise<void> {
  return async (server) => {
    for (const line of lines) await server.command(...(line.split(' ') as [string]));
  };
}

/** The same, and then nothing for longer than it goes unseen. */
function unseen(...lines: readonly string[]): (server: RedisServer) => Promise<void> {
  return (server) => sent(...lines)(server).then(() => sleep(UNSEEN_MS));
}

const DEMOTION = ['REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'];
const demoteForAMoment = sent(...DEMOTION);

async function attach(bed: Bed, server: RedisServer): Promise<void> {
  const config = [`replicaof ${server.host} ${server.port}`];
  const replica = bed.serve(await RedisServer.start({ config }));
  await until('was it in step', async () => (await field(replica, 'master_link_status')) === 'up');
}

/** As if the highest number were of so many microseconds from now. */
async function lookedAt(server: RedisServer, us: number): Promise<void> {
  const [seconds, micros] = (await server.command('TIME')) as [string, string];
  const highest = String(Number(seconds) * 1_000_000 + Number(micros) + us);
  await server.command('SETRANGE', 'holdfast:!record', 54, highest);
}

type Happening = (server: RedisServer, bed: Bed) => Promise<unknown>;

const LOSSES: Readonly<Record<string, Happening>> = {
  'a crash without its data': (server) => server.restart({ keepData: false }),
  FLUSHALL: sent('FLUSHALL'),
  FLUSHDB: sent('FLUSHDB'),
  SWAPDB: sent('SWAPDB 0 1'),
  'SWAPDB, and back': unseen('SWAPDB 0 1', 'SWAPDB 0 1'),
  'SCRIPT FLUSH and FLUSHALL': sent('SCRIPT FLUSH', 'FLUSHALL'),
  'FLUSHALL and CONFIG RESETSTAT': sent('FLUSHALL', 'CONFIG RESETSTAT'),
  'the record is deleted': sent('DEL holdfast:!record'),
  'a time as a replica': demoteForAMoment,
  'a time as a replica, and a backup, which forgets the second id': async (server) => {
    await demoteForAMoment(server);
    await backUp(server);
    expect(await field(server, 'master_replid2')).toMatch(/^0+$/);
  },
  'a time as a replica, CONFIG RESETSTAT and a backup': async (server) => {
    await sent(...DEMOTION, 'CONFIG RESETSTAT')(server);
    await backUp(server);
  },
};

const CALM: Readonly<Record<string, Happening>> = {
  nothing: async () => {},
  'a first replica': (server, bed) => attach(bed, server),
  'a backup from afar': backUp,
  'a backlog that is freed': async (server) => {
    await backUp(server);
    const before = await field(server, 'master_replid');
    await until('was it freed', async () => (await field(server, 'master_replid')) !== before);
  },
  'FLUSHDB of another database': (server) => {
    return server.command('EVAL', "redis.call('SELECT', 1) return redis.call('FLUSHDB')", 0);
  },
  'SCRIPT FLUSH': sent('SCRIPT FLUSH'),
  'CONFIG RESETSTAT': unseen('CONFIG RESETSTAT'),
  'REPLICAOF NO ONE to one that is a primary': unseen('REPLICAOF NO ONE'),
};

async function calm(bed: Bed): Promise<{ server: RedisServer; store: Store }> {
  const server = await bed.server({ config: ['repl-backlog-ttl 1'] });
  const store = patient(bed, server);
  expect(await claimed(store)).toBe('held');
  return { server, store };
}

describe('a server', () => {
  test.concurrent.each(Object.entries(LOSSES))('%s: nothing is granted', async (_, happen) => {
    await using bed = new Bed();
    const { server, store } = await calm(bed);
    await happen(server, bed);
    expect(await claimed(store)).toBe('data-loss');
    // Not because it was the first.
    expect(await claimed(patient(bed, server))).toBe('data-loss');
  });

  test.concurrent.each(Object.entries(CALM))('%s: nobody waits', async (_, happen) => {
    await using bed = new Bed();
    const { server, store } = await calm(bed);
    await happen(server, bed);
    expect(await claimed(store)).toBe('held');
    expect(await claimed(patient(bed, server))).toBe('held');
  });

  test.concurrent.each([
    ['passes the hold on within a second of the last look', 0, 'held'],
    ['grants nothing later', -2_000_000, 'data-loss'],
  ] as const)('a time as a replica: a release %s', async (_, us, expected) => {
    await using bed = new Bed();
    const { server, store } = await calm(bed);
    const entered = (): Claim =>
      claimOf('held', { ttlMs: LONG_TTL_MS, secret: randomBytes(16).toString('hex') });
    const [first, next] = [entered(), entered()];
    for (const each of [first, next]) await store.claim([each]);
    await demoteForAMoment(server);
    await lookedAt(server, us);
    expect(await store.release([first])).toEqual([true]);
    const [status] = await store.renew([next]);
    expect(status?.state === 'waiting' ? status.why : status?.state).toBe(expected);
    expect(await claimed(store)).toBe('data-loss');
  });

  inBed('that comes back with all its data', async (bed) => {
    const server = await bed.server({ persistent: true });
    const store = patient(bed, server);
    expect(await claimed(store)).toBe('held');
    await server.restart({ keepData: true });
    expect(await claimed(store)).toBe('data-loss');
  });

  inBed('that comes back with a hold on its way: nobody takes it', async (bed) => {
    const server = await bed.server({ persistent: true });
    const store = patient(bed, server);
    const [giver, taker] = [claimOf('a'), claimOf('a')];
    expect(await store.claim([giver])).toMatchObject([{ state: 'held' }]);
    const ids = { from: giver.id, to: 'f'.repeat(32) };
    expect(await store.handOver?.(giver, ids)).toMatchObject({ why: 'handed-over' });
    await server.restart({ keepData: true });
    const taking = store.handOver?.(taker, { from: ids.to, to: taker.id });
    expect(await taking).toMatchObject({ state: 'gone', why: 'store-reset' });
    expect((await store.inspect('a')).holders).toHaveLength(1);
  });

  inBed('that comes back with an old dump', async (bed) => {
    const { server, store } = await calm(bed);
    await server.command('SAVE');
    expect(await claimed(store, { resource: 'late' })).toBe('held');
    await server.kill();
    await server.start();
    expect(await server.command('EXISTS', 'holdfast:!record', 'holdfast::late')).toBe(1);
    expect(await claimed(store, { resource: 'late' })).toBe('data-loss');
  });

  inBed('to which the keys of another were brought', async (bed) => {
    const [{ server, store }, other] = [await calm(bed), await calm(bed)];
    await server.command('DEL', 'holdfast:!record');
    const place = [server.host, server.port, 'holdfast:!record', 0, 5000] as const;
    await other.server.command('MIGRATE', ...place);
    expect(await claimed(store)).toBe('data-loss');
  });

  inBed('that was started long ago with the data of another', async (bed) => {
    const server = await bed.server({ persistent: true });
    await server.restart({ keepData: true });
    // For longer than any lease lives.
    await upFor(server, 3);
    // It may have stood by while the other granted.
    expect(await claimed(bed.store(server, { maxTtl: 1000 }))).toBe('data-loss');
  });
});

describe('how long nothing is granted', () => {
  type Form = typeof redisStore | typeof plainRedisStore;
  const defaults = (bed: Bed, { host, port }: RedisServer, form: Form = redisStore): Store =>
    bed.use(form(new Redis({ host, port, lazyConnect: true })));

  /** In ms, for whoever is the first to notice. */
  async function left(store: Store): Promise<number | undefined> {
    return (await store.inspect('anything')).quarantineMs;
  }

  inBed('on a server that is new: 10 s; for locks of others, 30 s', async (bed) => {
    const server = bed.serve(await RedisServer.start());
    expect(await left(defaults(bed, server))).toBe(10_000);
    expect(await left(defaults(bed, server, plainRedisStore))).toBe(30_000);
  });

  test.concurrent.each<[string, number, Happening]>([
    ['a crash without its data', 10_000, (server) => server.restart({ keepData: false })],
    ['FLUSHALL', 10_000, sent('FLUSHALL')],
    ['SWAPDB', 10_000, sent('SWAPDB 0 1')],
    // The data may be those of a primary that was replaced meanwhile.
    ['a crash with its data', 30_000, (server) => server.restart({ keepData: true })],
    ['a time as a replica', 30_000, demoteForAMoment],
    ['a time as a replica, and FLUSHALL', 30_000, sent(...DEMOTION, 'FLUSHALL')],
  ])('after %s: %i ms', async (_, ms, happen) => {
    await using bed = new Bed();
    const server = await bed.server({ persistent: true });
    const store = defaults(bed, server);
    await left(store);
    await bed.settle(server);
    await happen(server, bed);
    expect(await left(store)).toBe(ms);
  });

  inBed('after a promotion: 30 s, and no further loss makes it shorter', async (bed) => {
    const servers = bed.serve(await startReplicated());
    await left(defaults(bed, servers.primary));
    await servers.inStep();
    const replica = servers.replicas[0]!;
    await replica.command('REPLICAOF', 'NO', 'ONE');
    const store = defaults(bed, replica);
    expect(await left(store)).toBe(30_000);
    await unseen('SWAPDB 0 1', 'SWAPDB 0 1')(replica);
    expect(await left(store)).toBe(30_000);
  });

  test.concurrent.each([
    [2_000, 6_000],
    [25_000, 45_000],
  ])('with a maxTtl of %i ms, after a restart with data: %i ms', async (maxTtl, ms) => {
    await using bed = new Bed();
    const server = bed.serve(await RedisServer.start({ persistent: true }));
    await left(bed.store(server, { maxTtl }));
    await server.restart({ keepData: true });
    expect(await left(bed.store(server, { maxTtl }))).toBe(ms);
  });
});

describe('several programs', () => {
  inBed('the greatest maxTtl counts after a flush for all that saw it', async (bed) => {
    const server = await bed.server();
    const [small, great] = [bed.store(server, { maxTtl: 1000 }), patient(bed, server)];
    await great.inspect('a');
    await small.inspect('a');
    await server.command('FLUSHALL');
    expect((await small.inspect('a')).quarantineMs).toBe(LONG_TTL_MS);
  });

  inBed('a greater maxTtl that comes after a loss counts from then on', async (bed) => {
    const server = await bed.server({ persistent: true });
    await server.command('FLUSHALL');
    await bed.store(server, { maxTtl: 1000 }).inspect('a');
    const { quarantineMs = 0 } = await patient(bed, server).inspect('a');
    expect(quarantineMs).toBeGreaterThan(LONG_TTL_MS / 2);
    // The record has it, also in the copy on disk.
    await server.restart({ keepData: true });
    const again = await bed.store(server, { maxTtl: 1000 }).inspect('a');
    expect(again.quarantineMs).toBe(LONG_TTL_MS + 20_000);
  });

  inBed('a greater maxTtl that the record knows counts for all', async (bed) => {
    const server = await bed.server({ persistent: true });
    expect(await claimed(patient(bed, server))).toBe('held');
    await server.restart({ keepData: true });
    const [status] = await bed.store(server).claim([claimOf('a', { ttlMs: paced(1000) })]);
    expect(status).toMatchObject({ state: 'waiting', why: 'data-loss' });
    expect(status?.state === 'waiting' && status.retryInMs).toBeGreaterThan(LONG_TTL_MS / 2);
  });

  inBed('a greater maxTtl prolongs the wait, even one that is over', async (bed) => {
    const { server, store } = await calm(bed);
    const short = bed.store(server, { maxTtl: 1 });
    await server.command('FLUSHALL');
    expect((await short.claim([claimOf('a', { ttlMs: 1 })]))[0]?.state).toBe('waiting');
    await until('was it over', async () => (await claimed(short, { ttlMs: 1 })) === 'held');
    expect(await claimed(store)).toBe('data-loss');
    expect(await claimed(short, { ttlMs: 1 })).toBe('data-loss');
  });
});

describe('a server that hides who it is', () => {
  async function hidden(bed: Bed, ...fields: readonly Hidden[]): Promise<RedisServer> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-hiding-'));
    bed.use({ close: async () => rmSync(folder, { recursive: true, force: true }) });
    const command = await hiding(folder, ...fields);
    return bed.serve(await RedisServer.start({ command, persistent: true }));
  }

  test('its replication id: it is known by its process and its commands', async () => {
    await using bed = new Bed();
    const heard = bed.use(hearWarnings());
    const server = await hidden(bed, 'master_replid');
    const store = patient(bed, server);
    expect(await claimed(store)).toBe('data-loss');
    expect(heard.codes).toContain('HOLDFAST_UNKNOWN_SERVER');
    await bed.settle(server);
    expect(await claimed(store)).toBe('held');
    await server.restart({ keepData: true });
    expect(await claimed(store)).toBe('data-loss');
    await bed.settle(server);
    expect(await claimed(store)).toBe('held');
    await demoteForAMoment(server);
    expect(await claimed(store)).toBe('data-loss');
  });

  test('and its process: only who trusts is granted anything', async () => {
    await using bed = new Bed();
    const server = await hidden(bed, 'master_replid', 'run_id');
    const message = expect.stringContaining('identify');
    const refused = { retryable: false, outcome: 'failed', message };
    await expect(claimed(patient(bed, server))).rejects.toMatchObject(refused);
    expect(await claimed(patient(bed, server, { afterDataLoss: 'trust' }))).toBe('held');
  });
});

test.each(LATEST)('$name: a swap of two databases in use is noticed at once', async (its) => {
  await using bed = new Bed();
  const server = await bed.server();
  const database = (number: number): Store =>
    bed.use(redisStore(its.server(server, { database: number }), { maxTtl: LONG_TTL_MS }));
  const [blue, green] = [database(0), database(1)];
  const touch = async (): Promise<void> => {
    for (const store of [blue, green]) await store.inspect('anything');
  };
  await touch();
  await bed.settle(server);
  const second = new Redis({ ...server, db: 1 });
  await second.setrange('holdfast:!record', 41, '0000100000000');
  second.disconnect();
  // Both records are a moment old, and say the same.
  await touch();
  expect(await claimed(blue)).toBe('held');
  expect(await claimed(green)).toBe('held');
  await server.command('SWAPDB', 0, 1);
  expect(await claimed(blue)).toBe('data-loss');
  expect(await claimed(database(0))).toBe('data-loss');
  expect(await claimed(green)).toBe('data-loss');
});
