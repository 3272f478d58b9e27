import { redisStore } from 'holdfast/redis';
import { conformance, type Fixture, type FixtureOptions } from 'holdfast/testkit';
import { Redis } from 'ioredis';
import { afterAll, test } from 'vitest';
import { RedisServer } from '../servers/redis-server.ts';

const server = await RedisServer.start();
const client = new Redis(server.url);
afterAll(async () => {
  client.disconnect();
  await server.close();
});

conformance({
  test: test.concurrent,
  skip: (name, reason) => test(name, (context) => context.skip(reason)),
  create: (options) => (options.quarantineMs ? forgetful(options) : shared(options)),
  traits: redisStore(client).traits,
  forgets: true,
});

function shared({ maxWaiters }: FixtureOptions): Fixture {
  const options = maxWaiters ? { maxWaiters } : {};
  return { connect: () => redisStore(client, { afterDataLoss: 'trust', ...options }) };
}

/** A server of its own, for the others would wait as well. */
async function forgetful({ quarantineMs = 0, maxWaiters }: FixtureOptions): Promise<Fixture> {
  const own = await RedisServer.start();
  const mine = new Redis(own.url);
  const options = { maxTtl: quarantineMs, ...(maxWaiters && { maxWaiters }) };
  // It has just been started, so that it may have lost something; here it has not.
  const first = redisStore(mine, { ...options, afterDataLoss: 'trust' });
  for await (const _ of first.list?.('') ?? []);
  await first.inspect('a');
  await first.close?.();
  return {
    connect: () => redisStore(mine, options),
    forget: () => own.command('FLUSHALL').then(() => {}),
    dispose: async () => {
      mine.disconnect();
      await own.close();
    },
  };
}
