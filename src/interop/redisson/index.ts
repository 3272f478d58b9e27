/**
 * Locks that are shared with Redisson in Java: RLock, RFencedLock, RFairLock, RReadWriteLock and
 * RPermitExpirableSemaphore, on their keys.
 *
 * Invariant: see lua/redisson.lua and lua/line.lua. A claim is an owner of its own, so that neither
 * side takes the other's hold for its own and re-enters it, and Redisson's counts of entries stay
 * its own. Its watchdog and our heartbeats extend only a hold that is there. Redisson's messages
 * wake both sides; as they may be lost, waiting claims also ask by themselves.
 * What breaks it: a loss of data, after which programs with Holdfast wait and Java does not; and a
 * thread in Java that goes on after its lease is over, because nothing there informs it.
 */
import { type Duration, positive } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { asGiven, callable, checkOptions, oneOf } from '../../base/options.ts';
import { refuseKeyPrefix } from '../../clients/redis/check-client.ts';
import type { RedisClient } from '../../clients/redis/client.ts';
import { maxWaiters } from '../../contract/admission.ts';
import type { Claim, Store, Traits } from '../../contract/store.ts';
import { type Form, PLAIN_FORM, scriptsOf } from '../../stores/redis/forms.ts';
import { partsOf, SERVER, type ServerOptions } from '../../stores/redis/options.ts';
import { RedisStore } from '../../stores/redis/redis-store.ts';
import { sharedStore } from '../../stores/redis/shared-store.ts';
import fairVerbs from './lua/fair.lua';
import kinds from './lua/kinds.lua';
import layout from './lua/layout.lua';
import line from './lua/line.lua';
import redisson from './lua/redisson.lua';
import { wokenByJava } from './own-channels.ts';
import { RedissonPlaces } from './places.ts';

export type { RedisClient } from '../../clients/redis/client.ts';

/** What a mutex is in Java: what `getLock`, `getFencedLock` or `getFairLock` gives. */
type RedissonMutex = 'lock' | 'fenced' | 'fair';

export interface RedissonOptions extends ServerOptions {
  /**
   * The name of a lock in Java, as a `NameMapper` there leaves it, made from the name with the
   * prefix of the locks; default: the same. Different names must have different ones.
   */
  readonly key?: (name: string) => string;
  /**
   * `lock`: a mutex is what `getLock` gives in Java. `fenced`: what `getFencedLock` gives, whose
   * counter numbers the holders of both sides. `fair`: what `getFairLock` gives, in whose queue the
   * waiters of both sides stand. With the last two there are mutexes only. Default `lock`.
   */
  readonly mutex?: RedissonMutex;
  /**
   * The mean pause of a waiting claim between its tries, each from half to one and a half times as
   * long, if no message wakes it; default 1 s. Not with `fair`.
   */
  readonly retry?: Duration;
  /** With `fair`: longest queue of waiting claims, of both sides; default 10,000. */
  readonly maxWaiters?: number;
}

const CHECKS = {
  ...SERVER,
  key: (given: RedissonOptions['key'] = asGiven, name: string) => callable(given, name),
  mutex: oneOf('lock', 'fenced', 'fair'),
  retry: positive(1000),
  maxWaiters,
};

const LOCK: Traits = { ...PLAIN_FORM.traits, permits: true, tokens: undefined, records: false };

const TRAITS: Readonly<Record<RedissonMutex, Traits>> = {
  lock: LOCK,
  fenced: {
    ...LOCK,
    permits: false,
    tokens: "RFencedLock's counter, which begins again if it is deleted or lost",
  },
  fair: { ...LOCK, permits: false, queue: true, hintsGrant: true },
};

/**
 * A store that shares its locks with Java programs that use Redisson on the same server. Where all
 * programs use Holdfast, take `redisStore`.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { redissonStore } from 'holdfast/redisson';
 *
 * const locks = createLocks(redissonStore(redis));
 *
 * await locks.mutex('report').run(() => {}); // redisson.getLock("report") in Java
 *
 * @throws UsageError as `redisStore` does.
 */
export function redissonStore(client: RedisClient, options: RedissonOptions = {}): Store {
  const used = checkOptions(options, CHECKS, 'redissonStore');
  const { key, mutex, retry, maxWaiters, ...given } = used;
  const fair = mutex === 'fair';
  const unused = fair ? 'retry' : 'maxWaiters';
  if (options[unused] !== undefined) {
    throw new UsageError(`redissonStore takes no ${unused} with mutex: '${mutex}'.`);
  }
  refuseKeyPrefix(client);
  const parts = partsOf(client, given);
  const { namespace, link } = parts;
  const places = new RedissonPlaces(fair, namespace, link.cluster, key);
  const verbs = fair ? `${line}${fairVerbs}` : `${kinds}${redisson}`;
  const text = `local FENCED = ${mutex === 'fenced'}\n${layout}${verbs}`;
  const form: Form = { name: 'redisson', traits: TRAITS[mutex], ...scriptsOf(text) };
  const store = new RedisStore({ ...parts, places, form, maxWaiters: fair ? maxWaiters : 0 });
  const follow = (claim: Claim, wake: () => void): Promise<AsyncDisposable> =>
    link.follow(places.keyOf(claim.resource), places.channelOf(claim), wake);
  if (fair) return wokenByJava(sharedStore(store, { retryMs: Infinity, verbs: ['watch'] }), follow);
  const more = mutex === 'lock' ? (['downgrade'] as const) : [];
  return sharedStore(store, { retryMs: retry, verbs: more, follow });
}
