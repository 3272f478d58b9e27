import { createLocks, type Locks } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { sleep } from '../../methods/faults/bed.ts';
import { Lifetime } from '../../methods/faults/lifetime.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { RedisServer } from '../../servers/redis-server.ts';

test('a store for each request is told once; closed ones and other databases are not', async () => {
  await using bed = new Lifetime();
  const { host, port } = bed.serve(await RedisServer.start());
  const heard = bed.use(hearWarnings());
  const clients = Array.from({ length: 10 }, (_, db) => {
    return new Redis({ host, port, db, lazyConnect: true });
  });
  const request = async (client = clients[0] as Redis): Promise<Locks> => {
    const locks = bed.use(createLocks(redisStore(client, { afterDataLoss: 'trust' })));
    expect(await locks.mutex('a').tryRun(() => 1)).toMatchObject({ acquired: true });
    return locks;
  };
  for (let n = 0; n < 21; n++) await (await request()).close();
  for (const client of clients) await request(client);
  for (let n = 1; n < 20; n++) await request();
  // Warnings come with the next tick.
  await sleep(0);
  expect(heard.codes).toEqual([]);
  await request();
  await request();
  await sleep(0);
  expect(heard.codes).toEqual(['HOLDFAST_MANY_STORES']);
});
