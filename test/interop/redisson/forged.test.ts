/** The same as in Redis' own store, for fair locks, whose messages bring no proofs. */
import { redissonStore } from 'holdfast/redisson';
import { Redis } from 'ioredis';
import { test } from 'vitest';
import { LONG_TTL_MS } from '../../methods/faults/bed.ts';
import { expectNoForgery } from '../../methods/faults/forged.ts';
import { Bed } from '../../stores/redis/bed.ts';
import { READER, readerOn, settled } from '../../stores/redis/reader.ts';
import { optionsOf } from './open.ts';

/** Where a note (lua/line.lua) has the tag of its claim. */
const TAG = /^.\d+ \d+ \w \d+ \d+ \d+ \S+ (\S+) \{/;

test('a user that may only read and publish makes nobody hold a fair lock', async () => {
  await using bed = new Bed();
  const server = await bed.server({ config: [READER] });
  const { host, port } = server;
  const { redis, send } = await readerOn(bed, server);
  const locks = () => {
    const client = new Redis({ host, port, lazyConnect: true });
    return bed.locksOn(redissonStore(client, optionsOf('fair')), LONG_TTL_MS);
  };
  const [holder, waiter] = [locks(), locks()];
  const notes = (name: string) => redis.hgetall(`holdfast:!notes:${name}`);
  await expectNoForgery(
    { holder, waiter },
    {
      tags: async (name) =>
        Object.values(await notes(name)).flatMap((note) => TAG.exec(note)?.[1] ?? []),
      // The ids of the claims.
      words: async (name) => Object.keys(await notes(name)),
      send,
    },
    () => settled(waiter),
  );
});
