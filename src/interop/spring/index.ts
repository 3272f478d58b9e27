/** Locks that are shared with programs in Java which use the registries of Spring Integration. */
import { type Duration, duration, positive } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { checkOptions } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import type { RedisClient } from '../../clients/redis/client.ts';
import type { SqlDatabase } from '../../clients/sql/clients.ts';
import type { Store } from '../../contract/store.ts';
import { SERVER, type ServerOptions } from '../../stores/redis/options.ts';
import { storeOfKeys } from '../../stores/redis/plain-store.ts';
import { fitting, plainTable } from '../rows/layout.ts';
import { ForeignRowStore, type RowStoreOptions } from '../rows/row-store.ts';
import { springLayout } from './layout.ts';

export type { RedisClient } from '../../clients/redis/client.ts';
export type { SqlDatabase } from '../../clients/sql/clients.ts';

export interface SpringJdbcOptions extends RowStoreOptions {
  /**
   * The version of Spring Integration, because the table has one more column from 7 on: `6` is for
   * all before. All programs of a table must have the same layout.
   */
  readonly version: 6 | 7;
  /** The region, as set in the `DefaultLockRepository`; default `DEFAULT`. */
  readonly region?: string;
  /** The table's name with its prefix; default `INT_LOCK`. It may be `schema.name`. */
  readonly table?: string;
  /**
   * Of the versions before 7: the time to live of the registries, the same in all programs; default
   * 10 s. It is no limit to `ttl`.
   */
  readonly timeToLive?: Duration;
  /**
   * By how much the clocks of Java programs may differ from the database's; default 1 s. A lock
   * whose holder crashed is free later by twice that.
   */
  readonly clockSkew?: Duration;
}

const JDBC = {
  version(given: 6 | 7 | undefined, option: string): 6 | 7 {
    if (given === 6 || given === 7) return given;
    const versions = '7, or 6 for the table of any version before 7';
    throw new UsageError(`${option} must be ${versions}, not ${show(given)}.`);
  },
  region(given: string = 'DEFAULT', option: string): string {
    if (typeof given === 'string') return fitting(given, 100, option);
    throw new UsageError(`${option} must be text, not ${show(given)}.`);
  },
  table: (given: string = 'INT_LOCK', option: string) => plainTable(given, option),
  timeToLive: positive(),
  retry: positive(100),
  clockSkew: duration('1s'),
};

const DEFAULT_TIME_TO_LIVE_MS = 10_000;

/**
 * A store that shares its locks with `JdbcLockRegistry`, in the table `INT_LOCK`, on PostgreSQL,
 * MySQL and MariaDB.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { springJdbcStore } from 'holdfast/spring';
 *
 * const locks = createLocks(springJdbcStore(pool, { version: 7 }));
 *
 * @param db a pool, whose statements commit by themselves.
 * @throws UsageError
 */
export function springJdbcStore(db: SqlDatabase, options: SpringJdbcOptions): Store {
  const used = checkOptions(options, JDBC, 'springJdbcStore');
  const { version, region, table, timeToLive } = used;
  if (version === 7 && timeToLive !== undefined) {
    throw new UsageError('timeToLive is for version 6: from 7 on, a row has its own.');
  }
  const timeToLiveMs = version === 7 ? undefined : (timeToLive ?? DEFAULT_TIME_TO_LIVE_MS);
  const layout = springLayout(table, region, timeToLiveMs);
  return new ForeignRowStore(db, { layout, retryMs: used.retry, skewMs: used.clockSkew });
}

export interface SpringRedisOptions extends ServerOptions {
  /** The registry's key, which the keys of its locks begin with. */
  readonly registryKey: string;
  /**
   * The mean pause of a waiting claim between its tries, each from half to one and a half times as
   * long; default 100 ms. A release that is published wakes it at once.
   */
  readonly retry?: Duration;
}

const REDIS = {
  ...SERVER,
  registryKey(given: string | undefined, option: string): string {
    if (typeof given === 'string' && /^\S+$/.test(given)) return given;
    throw new UsageError(`${option} must be text without blanks, not ${show(given)}.`);
  },
  retry: positive(100),
};

/**
 * A store that shares its locks with `RedisLockRegistry`, of either lock type. It publishes each
 * release, for registries with `PUB_SUB_LOCK`, and wakes at theirs.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { springRedisStore } from 'holdfast/spring';
 * import { Redis } from 'ioredis';
 *
 * const client = new Redis('redis://localhost');
 * const locks = createLocks(springRedisStore(client, { registryKey: 'shop' }));
 *
 * @throws UsageError
 */
export function springRedisStore(client: RedisClient, options: SpringRedisOptions): Store {
  const { registryKey, retry, ...given } = checkOptions(options, REDIS, 'springRedisStore');
  return storeOfKeys(client, given, {
    name: 'spring-redis',
    key: (name) => `${registryKey}:${name}`,
    retryMs: retry,
    channels: `${registryKey}-channel:`,
  });
}
