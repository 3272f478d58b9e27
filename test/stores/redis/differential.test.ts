import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { differ } from '../../methods/differential/differ.ts';
import { MAX_TTL_MS } from '../../methods/differential/steps.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { SteppedClock } from '../../servers/stepped-clock.ts';
import { Bed } from './bed.ts';

/** Beyond what a queue that nobody is in is remembered for. */
const LONG_MS = 1_000_000;

test('Redis answers and tells as memory does', async () => {
  await using bed = new Bed();
  const clock = bed.serve(await SteppedClock.create());
  const server = bed.serve(await RedisServer.start({ env: clock.env }));
  await differ({
    open: (options) => {
      const client = new Redis(server.url, { lazyConnect: true });
      const trusting = { afterDataLoss: 'trust', maxTtl: MAX_TTL_MS } as const;
      return bed.use(redisStore(client, { ...trusting, ...options }));
    },
    pass: (ms) => clock.step(ms),
    // Only the end of a hold of all there is proves that the next one holds.
    mayAsk: true,
    // Exact for 32 places, of which some may have been left.
    estimates: 16,
    groups: 20,
  });
  clock.step(LONG_MS);
  expect(await server.command('KEYS', '*')).toEqual(['holdfast:!record']);
});
