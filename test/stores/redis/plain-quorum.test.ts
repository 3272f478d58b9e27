/** A majority of plain locks is what node-redlock takes on the same servers. */
import { quorum } from 'holdfast/quorum';
import { plainRedisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { expect, test } from 'vitest';
import { LONG_TTL_MS } from '../../methods/faults/bed.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { Bed } from './bed.ts';

test('what one holds on a majority of servers, the other does not get', async () => {
  await using bed = new Bed();
  const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
  const clients = servers.map((server) => new Redis(bed.serve(server).url));
  for (const client of clients) bed.use({ close: () => client.disconnect() });
  const members = clients.map((client) => plainRedisStore(client, { afterDataLoss: 'trust' }));
  const locks = bed.locksOn(quorum(members), LONG_TTL_MS);
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
