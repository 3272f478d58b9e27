import { redissonStore } from 'holdfast/redisson';
import { conformance } from 'holdfast/testkit';
import { Redis } from 'ioredis';
import { onPlace, restartSetBack, single } from '../redis/conformance/suite.ts';

const place = await single(
  async ({ url }) => {
    const client = new Redis(url);
    // Its server crashes.
    client.on('error', () => {});
    return { client, end: () => client.disconnect() };
  },
  { forget: restartSetBack },
);

conformance({
  ...onPlace(place, (client, { maxWaiters, ...options }) => redissonStore(client, options)),
  traits: redissonStore(place.client).traits,
  lacks: ['raise', 'evict', 'keep', 'recall', 'list'],
});
