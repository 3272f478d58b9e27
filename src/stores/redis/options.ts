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
   * The keys of queues begin with this and a colon, all other keys of ours with this and an
   * exclamation mark; default `holdfast`.
   */
  readonly namespace?: string;
  /**
   * Longest ttl that any program asks for, the same in all programs that use these locks; default
   * 30 s. After a loss of data the store grants nothing for this long. A smaller value than others
   * have may end that too early; the store then warns.
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

export const SERVER: Checks<ServerOptions> = {
  namespace: (given: string = 'holdfast', name: string): string => {
    if (typeof given === 'string' && /^[\w.-]{1,64}$/.test(given)) return given;
    const good = `1 to 64 letters, digits, '_', '.' or '-'`;
    throw new UsageError(`${name} must be ${good}, not ${show(given)}.`);
  },
  maxTtl: duration(30_000),
  afterDataLoss: oneOf('wait', 'trust'),
  replicas: wholeNumber(0, Number.POSITIVE_INFINITY, 0),
  onHazard: oneOf('warn', 'refuse'),
};

/** What the options of both forms say. */
type ServerParts = Omit<RedisStoreParts, 'form' | 'places' | 'maxWaiters'>;

export function partsOf(client: RedisClient, options: Checked<typeof SERVER>): ServerParts {
  const { namespace, maxTtl: maxTtlMs, replicas, afterDataLoss, onHazard } = options;
  const hazards = new Hazards(onHazard === 'refuse');
  return {
    link: linkOf(client, hazards.look),
    namespace,
    replicas,
    hazards,
    maxTtlMs,
    trust: afterDataLoss === 'trust',
  };
}
