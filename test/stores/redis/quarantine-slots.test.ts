/** Slots that come to a server of a cluster without their data, and those that were never used. */
import type { Store } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { Cluster as IoredisCluster } from 'ioredis';
import { describe, expect } from 'vitest';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { claimOf, inBeds, LONG_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { freePort } from '../../servers/ports.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed, settle } from './bed.ts';

const inBed = inBeds(() => new Bed());

const HALF = 8192;

/** After a second without a script, what has run meanwhile is looked at. */
const UNSEEN_MS = paced(1100);

/** Names in the lower half of the slots, and in the upper one; no two in one slot. */
const names = [...'abcdefghijklmnopqrst'];
const inSlot = (name: string): number => slotOf(`holdfast::${name}`);
const LOWER = names.filter((name) => inSlot(name) < HALF);
const UPPER = names.filter((name) => inSlot(name) >= HALF);

/** Two primaries that were given their slots by command, as whoever sets up a cluster does. */
async function pair(bed: Bed): Promise<readonly [RedisServer, RedisServer]> {
  const start = async (): Promise<RedisServer> => {
    const config = [
      'cluster-enabled yes',
      `cluster-port ${await freePort()}`,
      'cluster-require-full-coverage no',
    ];
    return bed.serve(await RedisServer.start({ config, persistent: true }));
  };
  const [low, high] = [await start(), await start()];
  await low.command('CLUSTER', 'ADDSLOTSRANGE', 0, HALF - 1);
  await high.command('CLUSTER', 'ADDSLOTSRANGE', HALF, 2 * HALF - 1);
  await high.command('CLUSTER', 'SET-CONFIG-EPOCH', 2);
  const [, bus = ''] = (await low.command('CONFIG', 'GET', 'cluster-port')) as string[];
  await high.command('CLUSTER', 'MEET', low.host, low.port, bus);
  await agreed([low, high], () => true);
  return [low, high];
}

/** All of them see all slots served, and what else is wanted. */
async function agreed(
  servers: readonly RedisServer[],
  wanted: (nodes: string) => boolean,
): Promise<void> {
  await until('agreed they', async () => {
    const seen = servers.map(async (server) => {
      const info = String(await server.command('CLUSTER', 'INFO'));
      const nodes = String(await server.command('CLUSTER', 'NODES'));
      const whole = info.includes('cluster_state:ok') && info.includes('slots_ok:16384');
      return whole && wanted(nodes);
    });
    return (await Promise.all(seen)).every(Boolean);
  });
}

function open(bed: Bed, { host, port }: RedisServer, maxTtl = LONG_TTL_MS): Store {
  const client = new IoredisCluster([{ host, port }], { lazyConnect: true });
  return bed.use(redisStore(client, { maxTtl }));
}

/** `held`, or why not. Nobody stays in the queue. */
async function claimed(store: Store, name: string | undefined): Promise<string> {
  const claim = claimOf(name as string);
  const [status] = await store.claim([claim]);
  await store.release([claim]);
  return status?.state === 'waiting' ? status.why : (status?.state ?? 'nothing');
}

/** From when on there are grants in the slot of this name. */
async function openAt(server: RedisServer, name: string): Promise<string> {
  const keys = (await server.command('KEYS', 'holdfast:!record{*')) as string[];
  const key = keys.find((each) => slotOf(each) === inSlot(name));
  return String(await server.command('GETRANGE', String(key), 41, 53));
}

/** Two that have had nothing to lose for long, and a lock of each is in use. */
async function calm(bed: Bed) {
  const [low, high] = await pair(bed);
  const store = open(bed, high);
  for (const name of [LOWER[0], UPPER[0]]) expect(await claimed(store, name)).toBe('data-loss');
  await settle(low, high);
  return { low, high, store };
}

async function idOf(server: RedisServer): Promise<string> {
  return String(await server.command('CLUSTER', 'MYID'));
}

describe('a cluster', () => {
  inBed('is used for the first time: each server waits once, not each slot', async (bed) => {
    const { low, store } = await calm(bed);
    for (const name of [...LOWER.slice(1), ...UPPER.slice(1)]) {
      expect(await claimed(store, name), name).toBe('held');
    }
    expect((await low.command('KEYS', 'holdfast:!record:server*')) as string[]).toHaveLength(1);
  });

  inBed('a slot is given to a server that has nothing of it', async (bed) => {
    const { low, high, store } = await calm(bed);
    expect(await claimed(store, UPPER[1])).toBe('held');
    const lost = await idOf(high);
    await high.kill();
    await low.command('CLUSTER', 'FORGET', lost);
    // The other says that the namespace is used in the slots of a cluster.
    const slots = [inSlot(UPPER[1] as string), slotOf('holdfast:!record')];
    await low.command('CLUSTER', 'ADDSLOTS', ...slots);
    await low.command('CLUSTER', 'BUMPEPOCH');
    expect(await claimed(open(bed, low), UPPER[1])).toBe('data-loss');
  });

  inBed('a slot is given away without its data, and back', async (bed) => {
    const { low, store } = await calm(bed);
    expect(await claimed(store, LOWER[0])).toBe('held');
    const slot = inSlot(LOWER[0] as string);
    await low.command('CLUSTER', 'DELSLOTS', slot);
    await low.command('CLUSTER', 'ADDSLOTS', slot);
    await sleep(UNSEEN_MS);
    expect(await claimed(store, LOWER[0])).toBe('data-loss');
  });

  inBed('a slot moves, half-way and whole: only its names wait', async (bed) => {
    const { low, high, store } = await calm(bed);
    for (const name of LOWER.slice(0, 2)) expect(await claimed(store, name)).toBe('held');
    const [slot, from, to] = [inSlot(LOWER[2] as string), await idOf(low), await idOf(high)];
    await high.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from);
    await low.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to);
    await expect(claimed(store, LOWER[2])).rejects.toMatchObject({ retryable: true });
    for (const each of [high, low]) await each.command('CLUSTER', 'SETSLOT', slot, 'NODE', to);
    await agreed([low, high], (nodes) => !nodes.includes('->-'));
    expect(await claimed(store, LOWER[2])).toBe('data-loss');
    await sleep(UNSEEN_MS);
    expect(await claimed(store, UPPER[0])).toBe('held');
    for (const name of LOWER.slice(0, 2)) expect(await claimed(store, name)).toBe('held');
  });

  inBed('a server starts again: all its slots wait for the same moment', async (bed) => {
    const { low, high, store } = await calm(bed);
    for (const name of LOWER.slice(0, 2)) expect(await claimed(store, name)).toBe('held');
    await low.restart({ keepData: true });
    await agreed([low, high], () => true);
    const later = open(bed, high);
    expect(await claimed(later, LOWER[0])).toBe('data-loss');
    await sleep(UNSEEN_MS);
    expect(await claimed(later, LOWER[1])).toBe('data-loss');
    expect(await openAt(low, LOWER[1] as string)).toBe(await openAt(low, LOWER[0] as string));
    expect(await claimed(later, UPPER[0])).toBe('held');
  });

  inBed('a slot that lost its record forgets no maxTtl up to 30 s', async (bed) => {
    const { low, high } = await calm(bed);
    await low.command('FLUSHALL');
    // Whoever comes first has a smaller one than the others.
    const { quarantineMs = 0 } = await open(bed, high, 1000).inspect(LOWER[1] as string);
    expect(quarantineMs).toBeGreaterThan(25_000);
  });

  inBed('a server is flushed', async (bed) => {
    const { low, store } = await calm(bed);
    await low.command('FLUSHALL');
    expect(await claimed(store, LOWER[1])).toBe('data-loss');
    expect(await claimed(store, UPPER[1])).toBe('held');
  });
});
