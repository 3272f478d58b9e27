import { plainRedisStore } from 'holdfast/redis';
import { conformance } from 'holdfast/testkit';
import { Redis } from 'ioredis';
import { afterAll, test } from 'vitest';
import { RedisServer } from '../../servers/redis-server.ts';

const server = await RedisServer.start();
const client = new Redis(server.url);
afterAll(async () => {
  client.disconnect();
  await server.close();
});

conformance({
  test: test.concurrent,
  skip: (name, reason) => test(name, (context) => context.skip(reason)),
  create: () => ({ connect: () => plainRedisStore(client, { afterDataLoss: 'trust' }) }),
  traits: plainRedisStore(client).traits,
  lacks: ['watch', 'downgrade', 'raise', 'evict', 'list'],
});
