/** How waiters come to hear of Java again, once they can. */
import { redissonStore } from 'holdfast/redisson';
import type { Store } from 'holdfast/store';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { claimOf, type Place } from '../../methods/faults/bed.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { Bed } from '../../stores/redis/bed.ts';
import { until } from '../../support/until.ts';
import { optionsOf } from './open.ts';

test.each(['lock', 'fair'] as const)('who could not listen tries again: %s', async (mutex) => {
  await using bed = new Bed();
  const server = bed.serve(await RedisServer.start());
  const proxy = bed.use(await TcpProxy.start(server.port));
  const open = ({ host, port }: Place): Store =>
    bed.use(redissonStore(new Redis({ host, port, lazyConnect: true }), optionsOf(mutex)));
  const [store, other] = [open(proxy), open(server)];
  const channels = () => server.command('PUBSUB', 'CHANNELS', 'redisson_*');
  // Its connection for claims stays.
  await store.claim([claimOf('b')]);
  await other.claim([claimOf('a')]);
  proxy.refuse();
  const waits = claimOf('a');
  let told = 0;
  await store.watch?.(waits, () => told++);
  expect(await store.claim([waits])).toMatchObject([{ state: 'waiting' }]);
  expect(await channels()).toEqual([]);
  await proxy.accept();
  await until('does it listen', async () => ((await channels()) as string[]).length === 1);
  // It may have missed a message.
  await until('was it woken', async () => told > 0);
});
