import { redissonStore } from 'holdfast/redisson';
import { conformance } from 'holdfast/testkit';
import { Redis } from 'ioredis';
import { onPlace, restartSetBack, single } from '../redis/conformance/suite.ts';

const FAIR = { mutex: 'fair' } as const;

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
  ...onPlace(place, (client, options) => redissonStore(client, { ...options, ...FAIR })),
  traits: redissonStore(place.client, FAIR).traits,
  lacks: ['downgrade', 'raise', 'evict', 'keep', 'recall', 'list'],
});
