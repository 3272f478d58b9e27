/** The suite for fences, on Redis, Valkey and a cluster. */
import type { RedisClient } from 'holdfast/redis';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { afterAll, describe, test } from 'vitest';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { startCluster } from '../../servers/cluster.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { fenceOn, get, set } from './bed.ts';
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
    fenceConformance({
      test,
      create: () => fixtureAt(at(), `${its.name}, ${name}, ${count++}`),
    });
  });
});
