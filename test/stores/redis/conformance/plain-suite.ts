import { plainRedisStore } from 'holdfast/redis';
import { conformance } from 'holdfast/testkit';
import { onPlace, type Place } from './suite.ts';

/** The conformance suite on the plain form; without a queue, much of it is not promised. */
export function plainSuite(place: Place): void {
  conformance({
    ...onPlace(place, (client, { maxWaiters, ...options }) => plainRedisStore(client, options)),
    traits: plainRedisStore(place.client).traits,
    lacks: ['watch', 'downgrade', 'raise', 'evict', 'list'],
  });
}
