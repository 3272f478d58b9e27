/**
 * Locks between machines, in Redis or Valkey: one server, a primary with replicas, or a cluster.
 */
import { systemClock } from '../../clock.ts';
import { type Duration, parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { checkMaxWaiters } from '../../max-waiters.ts';
import { readOptions } from '../../read-options.ts';
import { show } from '../../show.ts';
import type { Store } from '../../store.ts';
import { linkOf, type RedisClient } from './client.ts';
import { ClockWatch } from './clock-watch.ts';
import { QUEUE_FORM } from './forms.ts';
import { Hazards } from './hazards.ts';
import { Places } from './places.ts';
import { RedisStore } from './redis-store.ts';

export type { RedisClient } from './client.ts';

export interface RedisOptions {
  /** Keys begin with it and a colon, others with it and an exclamation mark; default `holdfast`. */
  readonly namespace?: string;
  /**
   * Longest ttl that any program asks for, the same for all who use these locks; default 30 s.
   * After a loss of data nothing is granted for so long.
   */
  readonly maxTtl?: Duration;
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
  /**
   * Default `wait`: whenever the server may have lost claims, in a restart, a fail-over or a flush,
   * nothing is granted before all their leases are over. `trust` grants at once, so that two may
   * hold the same lock for a while: for tests, and where only time is wasted then.
   */
  readonly afterDataLoss?: 'wait' | 'trust';
  /** A grant or heartbeat counts once so many replicas have it (`WAIT`); default 0. */
  readonly replicas?: number;
  /**
   * What to do about a server that may lose locks (docs/stores/redis.md lists when); default
   * `warn`, a warning of the process with a code. `refuse` makes every verb fail.
   */
  readonly onHazard?: 'warn' | 'refuse';
}

const OPTIONS = [...['namespace', 'maxTtl', 'maxWaiters', 'afterDataLoss', 'replicas', 'onHazard']];

/**
 * A store on the server of this client, an object of the package `ioredis` or `redis`. It takes
 * connections of its own with the same settings, one for commands and, once somebody may wait, one
 * for messages; closing the locks closes those, never the client.
 *
 * @example
 * const locks = createLocks(redisStore(new Redis('redis://localhost')));
 *
 * @throws UsageError for anything that is no such client, or for bad options.
 */
export function redisStore(client: RedisClient, options: RedisOptions = {}): Store {
  const given = readOptions(options, OPTIONS, 'redisStore');
  const { namespace = 'holdfast', maxTtl = 30_000, maxWaiters, replicas = 0 } = given;
  const { afterDataLoss = 'wait', onHazard = 'warn' } = given;
  if (typeof namespace !== 'string' || !/^[\w.-]{1,64}$/.test(namespace)) {
    const message = `namespace must be 1 to 64 letters, digits, '_', '.' or '-'`;
    throw new UsageError(`${message}, not ${show(namespace)}.`);
  }
  if (!Number.isInteger(replicas) || replicas < 0) {
    throw new UsageError(`replicas must be a whole number, not ${show(replicas)}.`);
  }
  oneOf(afterDataLoss, ['wait', 'trust'], 'afterDataLoss');
  oneOf(onHazard, ['warn', 'refuse'], 'onHazard');
  const link = linkOf(client);
  const hazards = new Hazards(link, onHazard === 'refuse');
  return new RedisStore({
    ...{ form: QUEUE_FORM, link, namespace, replicas, hazards },
    clockWatch: new ClockWatch(systemClock(), hazards.clockJumped),
    places: new Places(namespace, link.cluster),
    maxTtlMs: parseDuration(maxTtl, 'maxTtl'),
    maxWaiters: checkMaxWaiters(maxWaiters),
    trust: afterDataLoss === 'trust',
  });
}

function oneOf(value: string, choices: readonly string[], what: string): void {
  if (choices.includes(value)) return;
  throw new UsageError(`${what} must be '${choices.join("' or '")}', not ${show(value)}.`);
}
