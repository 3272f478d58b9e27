/**
 * Locks that are shared with programs which know nothing of ours: `SET key value NX PX`, and
 * compare before delete, as redsync, node-redlock and locks written by hand have it.
 *
 * Invariant: the program that wrote a key's value holds it while it is there (lua/plain.lua). All
 * our other data is in keys beside it, which other programs need not know: the store's record, so
 * that tokens grow, and we grant nothing while leases may live that the server's data has lost;
 * tombstones; and records of finished work. There is no queue, so a waiting claim tries again, and
 * may always be too late.
 * What breaks it: other programs that write without NX, delete without comparing, or set no end;
 * and after a loss of data, others that do not wait.
 */
import { type Duration, positive } from '../../base/duration.ts';
import { asGiven, type Checked, callable, checkOptions } from '../../base/options.ts';
import { refuseKeyPrefix } from '../../clients/redis/check-client.ts';
import type { RedisClient } from '../../clients/redis/client.ts';
import type { Store } from '../../contract/store.ts';
import { PLAIN_FORM } from './forms.ts';
import { partsOf, SERVER, type ServerOptions } from './options.ts';
import { PlainPlaces } from './places.ts';
import { RedisStore } from './redis-store.ts';
import { sharedStore } from './shared-store.ts';

export interface PlainRedisOptions extends ServerOptions {
  /**
   * The key of a lock, made from its name with the prefix of the locks, exactly as the other
   * programs have it; default: the name itself. Different names must have different keys.
   */
  readonly key?: (name: string) => string;
  /**
   * The mean pause of a waiting claim between its tries, each from half to one and a half times as
   * long; default 100 ms.
   */
  readonly retry?: Duration;
}

/**
 * A store that shares its locks with programs which use `SET key value NX PX` on the same server.
 * It has no queue, no permits and no readers; where all programs use Holdfast, take `redisStore`.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { plainRedisStore } from 'holdfast/redis';
 *
 * const locks = createLocks(plainRedisStore(redis, { key: (name) => `lock:${name}` }));
 *
 * @throws UsageError as `redisStore` does.
 */
export function plainRedisStore(client: RedisClient, options: PlainRedisOptions = {}): Store {
  // Not outside, or programs without it would carry them.
  const checks = {
    ...SERVER,
    key: (given: PlainRedisOptions['key'] = asGiven, name: string) => callable(given, name),
    retry: positive(100),
  };
  const { key, retry: retryMs, ...given } = checkOptions(options, checks, 'plainRedisStore');
  return storeOfKeys(client, given, { name: PLAIN_FORM.name, key, retryMs });
}

/** How other programs have their locks. */
export interface KeysTerms {
  readonly name: string;
  readonly key: (name: string) => string;
  /** The mean pause between tries, in ms. */
  readonly retryMs: number;
  /** How the names of the channels begin on which releases are published; the key follows. */
  readonly channels?: string;
}

/** The store of a dialect of such locks. */
export function storeOfKeys(
  client: RedisClient,
  options: Checked<typeof SERVER>,
  { name, key, retryMs, channels }: KeysTerms,
): Store {
  refuseKeyPrefix(client);
  const parts = partsOf(client, options);
  const places = new PlainPlaces(parts.namespace, parts.link.cluster, key);
  const form = { ...PLAIN_FORM, name };
  const terms = { channels: channels ?? '-', maxWaiters: 0 };
  const store = new RedisStore({ ...parts, ...terms, places, form });
  return sharedStore(store, {
    retryMs,
    verbs: ['keep', 'recall'],
    follow:
      channels === undefined
        ? undefined
        : ({ resource }, wake) => {
            const asked = places.keyOf(resource);
            return parts.link.follow(asked, `${channels}${asked}`, wake, 'cluster');
          },
  });
}
