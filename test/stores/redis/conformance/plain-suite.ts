import { plainRedisStore } from 'holdfast/redis';
import { suite } from '../../../methods/conformance/suite.ts';
import { onPlace, type Place } from './suite.ts';

/** The conformance suite on the plain form; without a queue, much of it is not promised. */
export function plainSuite(place: Place): void {
  suite({
    ...onPlace(place, (client, { maxWaiters, ...options }) => plainRedisStore(client, options)),
    traits: plainRedisStore(place.client).traits,
    lacks: ['claimAll', 'watch', 'downgrade', 'raise', 'evict', 'handOver', 'list'],
  });
}
