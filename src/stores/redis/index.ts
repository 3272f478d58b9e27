/**
 * Locks between machines, in Redis or Valkey: one server, a primary with replicas, or a cluster.
 */

import { UsageError } from '../../base/errors.ts';
import { checkOptions } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import type { RedisClient } from '../../clients/redis/client.ts';
import { maxWaiters } from '../../contract/admission.ts';
import type { Store } from '../../contract/store.ts';
import { QUEUE_FORM } from './forms.ts';
import { partsOf, SERVER, type ServerOptions } from './options.ts';
import { Places } from './places.ts';
import { RedisStore } from './redis-store.ts';
import { spellingCheck } from './spelling.ts';

export type { RedisClient } from '../../clients/redis/client.ts';
export { type PlainRedisOptions, plainRedisStore } from './plain-store.ts';

export interface RedisOptions extends ServerOptions {
  /**
   * Puts all keys under this hash tag, into one slot: for a cluster behind one endpoint, with the
   * client of one server. The same in all programs; others of the namespace are refused. Default:
   * none, since a cluster client finds each key's server.
   */
  readonly hashTag?: string;
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
}

/** The default of `maxTtl` where one server has all locks: so long a new one grants nothing. */
const ALONE_MS = 10_000;

const checkTag = (given: RedisOptions['hashTag'], name: string): string | undefined => {
  const good = typeof given === 'string' && /^[\w.-]{1,64}$/.test(given);
  if (given === undefined || good) return given;
  throw new UsageError(
    `${name} must be 1 to 64 letters, digits, '_', '.' or '-', without braces, not ${show(given)}.`,
  );
};

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
  const checks = { ...SERVER, maxWaiters, hashTag: checkTag };
  const { hashTag, maxWaiters: most, ...given } = checkOptions(options, checks, 'redisStore');
  const tagged = hashTag !== undefined;
  const parts = partsOf(client, given, tagged ? undefined : ALONE_MS, tagged);
  const { namespace, link } = parts;
  const places = new Places(namespace, link.cluster, hashTag);
  const spelling = places.inCluster ? spellingCheck(link, namespace, places.tag) : undefined;
  return new RedisStore({ ...parts, form: QUEUE_FORM, maxWaiters: most, places, spelling });
}
