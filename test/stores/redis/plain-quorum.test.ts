/** A majority of plain locks is what node-redlock takes on the same servers. */
import { createLocks } from 'holdfast';
import { quorum } from 'holdfast/quorum';
import { plainRedisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { expect, test } from 'vitest';
import { RedisServer } from '../../servers/redis-server.ts';

test('what one holds on a majority of servers, the other does not get', async () => {
  const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
  const clients = servers.map(({ url }) => new Redis(url));
  const members = clients.map((client) => plainRedisStore(client, { afterDataLoss: 'trust' }));
  const locks = createLocks(quorum(members));
  const redlock = new Redlock(clients, { retryCount: 0 });

  const ours = await locks.mutex('a').acquire();
  await expect(redlock.acquire(['a'], 10_000)).rejects.toThrow();
  await ours.release();

  const theirs = await redlock.acquire(['a'], 10_000);
  expect(await locks.mutex('a').tryAcquire()).toBeNull();
  const waiting = locks.mutex('a').acquire();
  await theirs.release();
  expect(await waiting).toHaveProperty('held', true);

  await locks.close({ drain: 0 });
  for (const client of clients) client.disconnect();
  await Promise.all(servers.map((server) => server.close()));
});
