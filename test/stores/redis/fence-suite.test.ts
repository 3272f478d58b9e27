/** The suite for fences, on Redis, Valkey and a cluster; and what moves under a fence there. */
import type { RedisFenceOptions } from 'holdfast/fence';
import type { RedisClient } from 'holdfast/redis';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { startCluster } from '../../servers/cluster.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { until } from '../../support/until.ts';
import { type FenceOn, fenceOn, get, set } from './bed.ts';
import { packages } from './packages.ts';

interface At {
  readonly client: RedisClient;
  /** The server that keeps this key. */
  readonly where: (key: string) => Promise<RedisServer>;
}

/** Fences and data of its own, in the slot of the tag that the suite's names have. */
function fixtureAt({ client, where }: At, name: string): FenceFixture {
  const fence = fenceOn(client, { prefix: `${name}:` });
  const key = `{x}${name}`;
  return {
    look: async () => Number(await (await where(key)).command('GET', key)),
    adopt: (lease) => fence.adopt(lease),
    async enter(lease) {
      const entry = await fence.enter(lease);
      return {
        read: async () => Number(await get(entry, key)),
        write: (value) => set(entry, key, value),
      };
    },
  };
}

const redis = await RedisServer.start();
const valkey = await RedisServer.start({ program: 'valkey' });
// Nothing fails here on purpose.
const cluster = await startCluster({ downAfterMs: 15_000 });
afterAll(async () => {
  await Promise.all([redis.close(), valkey.close(), cluster.close()]);
});

let count = 0;

describe.each(packages)('$name', (its) => {
  describe.each([
    ['Redis', () => ({ client: its.server(redis), where: async () => redis })],
    ['Valkey', () => ({ client: its.server(valkey), where: async () => valkey })],
    [
      'a cluster',
      () => ({
        client: its.cluster(cluster.addresses),
        where: (key: string) => cluster.primaryOf(slotOf(key)),
      }),
    ],
  ] as const)('%s', (name, at) => {
    fenceConformance({ test, create: () => fixtureAt(at(), `${its.name}, ${name}, ${count++}`) });
  });

  const at = (resource: string) => ({ resource, lineage: 'one', token: 1n });
  const fenceOf = (options: RedisFenceOptions = {}): FenceOn =>
    fenceOn(its.cluster(cluster.addresses), options);

  test.each([
    ['stock:7', 'stock:7'],
    ['stock:7', '{stock:7}:left'],
    ['shop:{7}', 'left:{7}'],
    ['a}b', 'a}b'],
    ['{}a', '{}a'],
  ])('the fence of %s is kept with %s', async (resource, key) => {
    const fence = fenceOf();
    expect(slotOf(fence.keyOf(resource))).toBe(slotOf(key));
    const entry = await fence.enter(at(resource));
    await set(entry, key, its.name);
    expect(await get(entry, key)).toBe(its.name);
    expect(await entry.write([])).toEqual([]);
  });

  test('data elsewhere is refused unsent, until the fence is told its tag', async () => {
    const entry = await fenceOf().enter(at('shop:stock:8'));
    const message = expect.stringMatching(/another slot.*option 'tag'/s);
    const refused = { code: 'USAGE', message };
    await expect(set(entry, 'stock:8', 1)).rejects.toMatchObject(refused);
    await expect(entry.eval('return 1', { keys: ['stock:8'] })).rejects.toMatchObject(refused);
    const tag = (resource: string): string => resource.slice('shop:'.length);
    const fence = fenceOf({ tag, prefix: 'f:' });
    expect(fence.keyOf('shop:stock:8')).toBe('f:{stock:8}shop:stock:8');
    await set(await fence.enter(at('shop:stock:8')), 'stock:8', 1);
    const reader = await fence.enter({ ...at('shop:stock:8'), kind: 'read' });
    expect(await get(reader, 'stock:8')).toBe('1');
  });

  test('an entry goes on while its slot is handed over, and stays with its data', async () => {
    const fence = fenceOf();
    const name = `moved ${its.name}`;
    const older = await fence.enter(at(name));
    await set(older, name, 'old');
    const entry = await fence.enter({ ...at(name), token: 2n });
    const to = await cluster.migrate({ slot: slotOf(name) });
    // It may take more than one try until the client has heard of it.
    await until('wrote', async () => {
      await set(entry, name, 'new');
      return true;
    });
    expect(await to.command('GET', name)).toBe('new');
    await expect(set(older, name, 'late')).rejects.toMatchObject({ code: 'STALE_TOKEN', seen: 2n });
  });
});
