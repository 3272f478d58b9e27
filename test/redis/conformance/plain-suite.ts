import { plainRedisStore, type RedisClient } from 'holdfast/redis';
import { conformance } from 'holdfast/testkit';
import { test } from 'vitest';

/** The conformance suite on the plain form; without a queue, much of it is not promised. */
export function plainSuite(client: RedisClient): void {
  conformance({
    test: test.concurrent,
    skip: (name, reason) => test(name, (context) => context.skip(reason)),
    create: () => ({ connect: () => plainRedisStore(client, { afterDataLoss: 'trust' }) }),
    traits: plainRedisStore(client).traits,
    lacks: ['watch', 'follow', 'downgrade', 'raise', 'evict', 'list'],
  });
}
