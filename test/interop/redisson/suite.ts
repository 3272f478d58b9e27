import { type RedissonOptions, redissonStore } from 'holdfast/redisson';
import type { OptionalVerb } from '../../../src/contract/store.ts';
import { suite } from '../../methods/conformance/suite.ts';
import { ioredis, onPlace, restartSetBack, single } from '../../stores/redis/conformance/suite.ts';

/** The whole suite on locks of this kind. */
export async function redissonSuite(
  mutex: NonNullable<RedissonOptions['mutex']>,
  lacks: readonly OptionalVerb[],
): Promise<void> {
  const place = await single(ioredis, { forget: restartSetBack });
  suite({
    ...onPlace(place, (client, { maxWaiters, ...options }) =>
      redissonStore(client, {
        ...{ ...options, mutex },
        ...(mutex === 'fair' && maxWaiters !== undefined && { maxWaiters }),
      }),
    ),
    traits: redissonStore(place.client, { mutex }).traits,
    lacks: [...lacks, 'claimAll', 'raise', 'evict', 'keep', 'recall', 'handOver', 'list'],
  });
}
