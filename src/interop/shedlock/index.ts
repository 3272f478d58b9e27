/** Locks that are shared with jobs in Java which use ShedLock. */
import { type Duration, duration, positive } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { asGiven, callable, checkOptions } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import type { RedisClient } from '../../clients/redis/client.ts';
import type { SqlDatabase } from '../../clients/sql/clients.ts';
import type { Store } from '../../contract/store.ts';
import { SERVER, type ServerOptions } from '../../stores/redis/options.ts';
import { storeOfKeys } from '../../stores/redis/plain-store.ts';
import { plainTable } from '../rows/layout.ts';
import { ForeignRowStore, type RowStoreOptions } from '../rows/row-store.ts';
import { shedlockLayout } from './layout.ts';

export type { RedisClient } from '../../clients/redis/client.ts';
export type { SqlDatabase } from '../../clients/sql/clients.ts';

export interface ShedlockOptions {
  /**
   * ShedLock's name for a lock, made from ours with the prefix of the locks; default: the same.
   * Different names must stay different.
   */
  readonly name?: (name: string) => string;
}

export interface ShedlockJdbcOptions extends ShedlockOptions, RowStoreOptions {
  /** The table, as configured in ShedLock; default `shedlock`. It may be `schema.name`. */
  readonly table?: string;
  /**
   * By how much the clocks of Java programs may differ from the database's; default 0, which is
   * right where all of them say `usingDbTime()`.
   */
  readonly clockSkew?: Duration;
}

const NAME = {
  name: (given: ShedlockOptions['name'] = asGiven, option: string) => callable(given, option),
};

const JDBC = {
  ...NAME,
  table: (given: string = 'shedlock', option: string) => plainTable(given, option),
  retry: positive(100),
  clockSkew: duration(0),
};

/**
 * A store that shares its locks with ShedLock's JDBC providers, in the table that they use, on
 * PostgreSQL, MySQL and MariaDB. `ttl` is `lockAtMostFor`, and `minHold` is `lockAtLeastFor`.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { shedlockJdbcStore } from 'holdfast/shedlock';
 *
 * const locks = createLocks(shedlockJdbcStore(pool));
 *
 * @param db a pool, whose statements commit by themselves.
 * @throws UsageError
 */
export function shedlockJdbcStore(db: SqlDatabase, options: ShedlockJdbcOptions = {}): Store {
  const { name, table, retry, clockSkew } = checkOptions(options, JDBC, 'shedlockJdbcStore');
  const layout = shedlockLayout(table, name);
  return new ForeignRowStore(db, { layout, retryMs: retry, skewMs: clockSkew });
}

export interface ShedlockRedisOptions extends ShedlockOptions, ServerOptions {
  /** The environment, as configured in ShedLock; default `default`. */
  readonly environment?: string;
  /** What the keys begin with; default `job-lock`. */
  readonly keyPrefix?: string;
  /** As of `shedlockJdbcStore`. */
  readonly retry?: Duration;
}

const REDIS = {
  ...SERVER,
  ...NAME,
  environment: (given: string = 'default', option: string) => keyPart(given, option),
  keyPrefix: (given: string = 'job-lock', option: string) => keyPart(given, option),
  retry: positive(100),
};

/**
 * A store that shares its locks with ShedLock's Redis providers, under the keys that they use.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { shedlockRedisStore } from 'holdfast/shedlock';
 * import { Redis } from 'ioredis';
 *
 * const locks = createLocks(shedlockRedisStore(new Redis('redis://localhost')));
 *
 * @throws UsageError
 */
export function shedlockRedisStore(client: RedisClient, options: ShedlockRedisOptions = {}): Store {
  const used = checkOptions(options, REDIS, 'shedlockRedisStore');
  const { environment, keyPrefix, name, retry, ...given } = used;
  const key = (lock: string): string => `${keyPrefix}:${environment}:${name(lock)}`;
  return storeOfKeys(client, given, { name: 'shedlock-redis', key, retryMs: retry });
}

function keyPart(given: string, option: string): string {
  if (typeof given === 'string' && given !== '') return given;
  throw new UsageError(`${option} must be text, not ${show(given)}.`);
}
