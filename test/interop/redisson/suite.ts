import { type RedissonOptions, redissonStore } from 'holdfast/redisson';
import { Redis } from 'ioredis';
import type { OptionalVerb } from '../../../src/contract/store.ts';
import { suite } from '../../methods/conformance/suite.ts';
import { onPlace, restartSetBack, single } from '../../stores/redis/conformance/suite.ts';

/** The whole suite on locks of this kind. */
export async function redissonSuite(
  mutex: NonNullable<RedissonOptions['mutex']>,
  lacks: readonly OptionalVerb[],
): Promise<void> {
  const place = await single(
    async ({ url }) => {
      const client = new Redis(url);
      // Its server crashes.
      client.on('error', () => {});
      return { client, end: () => client.disconnect() };
    },
    { forget: restartSetBack },
  );
  suite({
    ...onPlace(place, (client, { maxWaiters, ...options }) =>
      redissonStore(client, {
        ...{ ...options, mutex },
        ...(mutex === 'fair' && maxWaiters !== undefined && { maxWaiters }),
      }),
    ),
    traits: redissonStore(place.client, { mutex }).traits,
    lacks: [...lacks, 'raise', 'evict', 'keep', 'recall', 'list'],
  });
}
