/**
 * Locks that are shared with Redisson in Java: RLock, RFencedLock, RReadWriteLock and
 * RPermitExpirableSemaphore, on the keys that those keep.
 *
 * Invariant: lua/redisson.lua has it. A claim is an owner of its own, so that neither side enters
 * what the other holds as if it were a re-entrance, and Redisson's counts of entries stay its own.
 * A watchdog there and heartbeats here prolong only what is there. Both are woken by Redisson's
 * messages; as those may be lost, and any waiter may be first, waiting claims also ask by
 * themselves.
 * What breaks it: a loss of data, after which programs with Holdfast wait and Java does not; and a
 * thread in Java that goes on after its lease is over, which nothing there tells.
 */
import { type Duration, positive } from '../../../base/duration.ts';
import { asGiven, callable, checkOptions, oneOf } from '../../../base/options.ts';
import type { RedisClient } from '../../../clients/redis/client.ts';
import type { Claim, Store, Traits, Wake } from '../../../contract/store.ts';
import { PLAIN_FORM } from '../forms.ts';
import { partsOf, SERVER, type ServerOptions } from '../options.ts';
import { RedisStore } from '../redis-store.ts';
import { ifHeard, sooner } from '../sooner.ts';
import { RedissonPlaces } from './places.ts';
import { redissonScripts } from './scripts.ts';

export type { RedisClient } from '../../../clients/redis/client.ts';

export interface RedissonOptions extends ServerOptions {
  /**
   * The name of a lock in Java, as a `NameMapper` there leaves it, made of the name with the prefix
   * of the locks; default: the same. Different names must have different ones.
   */
  readonly key?: (name: string) => string;
  /**
   * `lock`: a mutex is what `getLock` gives in Java; `fenced`: what `getFencedLock` gives, whose
   * counter numbers the holders of both sides; then there are mutexes only. Default `lock`.
   */
  readonly mutex?: 'lock' | 'fenced';
  /**
   * The mean pause of a waiting claim between its tries, each from half to one and a half times as
   * long, if no message wakes it; default 1 s.
   */
  readonly retry?: Duration;
}

const CHECKS = {
  ...SERVER,
  key: (given: RedissonOptions['key'] = asGiven, name: string) => callable(given, name),
  mutex: oneOf('lock', 'fenced'),
  retry: positive(1000),
};

const TRAITS: Traits = {
  ...PLAIN_FORM.traits,
  permits: true,
  tokens: undefined,
  records: false,
};

const FENCED: Traits = {
  ...TRAITS,
  permits: false,
  tokens: "RFencedLock's counter, which begins again if it is deleted or lost",
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
  const { key, mutex, retry, ...given } = checkOptions(options, CHECKS, 'redissonStore');
  const parts = partsOf(client, given);
  const places = new RedissonPlaces(parts.namespace, parts.link.cluster, key);
  const fenced = mutex === 'fenced';
  const form = {
    name: 'redisson',
    scripts: redissonScripts(fenced),
    traits: fenced ? FENCED : TRAITS,
  };
  const store = new RedisStore({ ...parts, places, form, maxWaiters: 0 });
  return {
    name: store.name,
    traits: store.traits,
    lineage: store.lineage,
    maxTtlMs: store.maxTtlMs,
    partOf: store.partOf,
    claim: async (claims) => sooner(await store.claim(claims), retry),
    renew: (claims) => store.renew(claims),
    release: (claims, after) => store.release(claims, after),
    inspect: (resource) => store.inspect(resource),
    watch: (claim, wake) => watch(claim, wake),
    close: () => store.close(),
  };

  function watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const channel = places.channelOf(claim);
    return ifHeard(parts.link.follow(places.keyOf(claim.resource), channel, () => wake()));
  }
}
