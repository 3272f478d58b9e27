/**
 * Locks between machines, in Redis or Valkey: one server, a primary with replicas, or a cluster.
 */

import { checkOptions } from '../../base/options.ts';
import type { RedisClient } from '../../clients/redis/client.ts';
import { maxWaiters } from '../../contract/max-waiters.ts';
import type { Store } from '../../contract/store.ts';
import { QUEUE_FORM } from './forms.ts';
import { partsOf, SERVER, type ServerOptions } from './options.ts';
import { Places } from './places.ts';
import { RedisStore } from './redis-store.ts';

export type { RedisClient } from '../../clients/redis/client.ts';
export { type PlainRedisOptions, plainRedisStore } from './plain-store.ts';

export interface RedisOptions extends ServerOptions {
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
}

/**
 * A store on the server of this client, an object of the package `ioredis` or `redis`. It opens
 * connections of its own with the same settings, with the first claim: one for commands, one for
 * messages; closing the locks closes those, never the client.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { redisStore } from 'holdfast/redis';
 * import { Redis } from 'ioredis';
 *
 * const locks = createLocks(redisStore(new Redis('redis://localhost')));
 *
 * @throws UsageError for anything but such a client, or for bad options.
 */
export function redisStore(client: RedisClient, options: RedisOptions = {}): Store {
  const given = checkOptions(options, { ...SERVER, maxWaiters }, 'redisStore');
  const parts = partsOf(client, given);
  return new RedisStore({
    ...parts,
    form: QUEUE_FORM,
    maxWaiters: given.maxWaiters,
    places: new Places(parts.namespace, parts.link.cluster),
  });
}
