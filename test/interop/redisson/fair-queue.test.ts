/** The queue of a fair lock where no program in Java is at it. */
import { redissonStore } from 'holdfast/redisson';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { optionsOf } from './open.ts';

/** Time enough for a busy machine to send all claims of a test. */
const TTL_MS = paced(3000);

test('all that died together are out of the way together', async () => {
  const server = await RedisServer.start();
  const client = new Redis(server.url);
  const store = redissonStore(client, optionsOf('fair'));
  try {
    const dead = Array.from({ length: 5 }, () => claimOf('a', { ttlMs: TTL_MS }));
    for (const each of dead) await store.claim([each]);
    const { waiters } = await store.inspect('a');
    expect(waiters).toHaveLength(4);
    // The notes must outlive what they are about, so this looks at nothing else meanwhile.
    await until('is the lock free', async () => (await client.pttl('a')) < 0);
    await new Promise((resolve) => setTimeout(resolve, TTL_MS / 2));
    expect(await store.claim([claimOf('a')])).toMatchObject([{ state: 'held' }]);
  } finally {
    await store.close?.();
    client.disconnect();
    await server.close();
  }
});
