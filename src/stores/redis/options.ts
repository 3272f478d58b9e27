/** The options of both forms, and the parts of a store. */
import { type Duration, duration } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { type Checked, type Checks, oneOf, wholeNumber } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import { linkOf, type RedisClient } from '../../clients/redis/client.ts';
import { Hazards } from './hazards.ts';
import type { RedisStoreParts } from './redis-store.ts';

/** Options of both forms of locks. */
export interface ServerOptions {
  /**
   * All keys and channels of ours begin with this and a colon; default `holdfast`. It may have
   * colons itself: `shop:dev`.
   */
  readonly namespace?: string;
  /**
   * Longest ttl that any program asks for, the same in all programs that use these locks; default
   * 10 s for `redisStore` on one server or with Sentinels; 30 s with a cluster or a `hashTag`, and
   * for locks that are shared with other libraries. A server that is new or has lost its data
   * grants nothing for this long. In a cluster or with a `hashTag` that is at least 30 s; after a
   * fail-over or a restart with data it is 20 s more, or three times a `maxTtl` below 10 s. A
   * smaller value than others have may end the wait too early; the store then warns.
   */
  readonly maxTtl?: Duration;
  /**
   * Default `wait`: when the server may have lost claims, in a restart, a fail-over or a flush, the
   * store grants nothing before all their leases are over. `trust` does not wait, whatever other
   * programs do, so two may hold the same lock for a while: for tests, and where that only wastes
   * time.
   */
  readonly afterDataLoss?: 'wait' | 'trust';
  /** A grant or heartbeat counts once this many replicas have it (`WAIT`); default 0. */
  readonly replicas?: number;
  /**
   * What to do about a server that may lose locks (docs/stores/redis.md lists when); default
   * `warn`, a warning of the process with a code. `refuse` makes every verb fail.
   */
  readonly onHazard?: 'warn' | 'refuse';
}

export const SERVER: Checks<ServerOptions, 'maxTtl'> = {
  namespace: (given: string = 'holdfast', name: string): string => {
    const words = /^(?!.{65})[\w.-]+(?::[\w.-]+)*$/;
    if (typeof given === 'string' && words.test(given)) return given;
    const good = `1 to 64 letters, digits, '_', '.' or '-', with single colons between them`;
    throw new UsageError(`${name} must be ${good}, not ${show(given)}.`);
  },
  maxTtl: duration(),
  afterDataLoss: oneOf('wait', 'trust'),
  replicas: wholeNumber(0, Number.POSITIVE_INFINITY, 0),
  onHazard: oneOf('warn', 'refuse'),
};

/** The default of `maxTtl`. */
const MAX_TTL_MS = 30_000;

/**
 * @param aloneMs the default of `maxTtl` with a client that is not one of a cluster.
 * @param tagged all keys are under one hash tag.
 */
export function partsOf(
  client: RedisClient,
  options: Checked<typeof SERVER>,
  aloneMs: number = MAX_TTL_MS,
  tagged = false,
): Omit<RedisStoreParts, 'form' | 'places' | 'maxWaiters' | 'spelling'> {
  const { namespace, replicas, afterDataLoss, onHazard } = options;
  const hazards = new Hazards(onHazard === 'refuse', tagged);
  const link = linkOf(client, hazards.look);
  const { maxTtl: maxTtlMs = link.cluster ? MAX_TTL_MS : aloneMs } = options;
  return { link, namespace, replicas, hazards, maxTtlMs, trust: afterDataLoss === 'trust' };
}
