/** The queue of a fair lock where no program in Java is at it. */
import { redissonStore } from 'holdfast/redisson';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { claimOf, sleep } from '../../methods/faults/bed.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { Bed } from '../../stores/redis/bed.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { optionsOf } from './open.ts';

/** Time enough for a busy machine to send all claims of a test. */
const TTL_MS = paced(3000);

test('all that died together are out of the way together', async () => {
  await using bed = new Bed();
  const server = bed.serve(await RedisServer.start());
  const client = new Redis(server.url);
  bed.use({ close: () => client.disconnect() });
  const store = bed.use(redissonStore(client, optionsOf('fair')));
  const dead = Array.from({ length: 5 }, () => claimOf('a', { ttlMs: TTL_MS }));
  for (const each of dead) await store.claim([each]);
  const { waiters } = await store.inspect('a');
  expect(waiters).toHaveLength(4);
  // The notes must outlive what they are about, so this looks at nothing else meanwhile.
  await until('is the lock free', async () => (await client.pttl('a')) < 0);
  await sleep(TTL_MS / 2);
  expect(await store.claim([claimOf('a')])).toMatchObject([{ state: 'held' }]);
});
