import { UsageError } from './base/errors.ts';
import { nearest } from './base/nearest.ts';
import type { Store } from './contract/store.ts';
import { createLocks, type Locks } from './locks.ts';
import type { LocksOptions } from './primitives/lock-options.ts';

const REDIS = [
  'redis',
  'rediss',
  'redis+unix',
  'redis+sentinel',
  'rediss+sentinel',
  'redis+cluster',
  'rediss+cluster',
];

const POSTGRES = ['postgres', 'postgresql'];

const MYSQL = ['mysql', 'mariadb'];

const ETCD = ['etcd', 'etcds'];

const ZOOKEEPER = ['zookeeper', 'zookeepers'];

const KNOWN = ['memory', 'sqlite', ...REDIS, ...POSTGRES, ...MYSQL, ...ETCD, ...ZOOKEEPER];

/**
 * Locks on the store that the URL names. They own the store: `locks.close()` closes it.
 *
 * @example
 * import { connect } from 'holdfast/connect';
 *
 * const locks = await connect('redis://localhost', { prefix: 'shop:' });
 *
 * @throws the errors of `openStore` and `createLocks`.
 */
export async function connect(url: string, options?: LocksOptions): Promise<Locks> {
  return createLocks(await openStore(url), options);
}

/**
 * The store that the URL names; its first verb opens it:
 * - `memory:` for this process alone,
 * - `sqlite:` and the path of a file,
 * - `redis://user:password@host:6379/0`, `rediss:` for TLS, `redis+unix:///run/redis.sock?db=0`,
 *   `redis+sentinel://host1:26379,host2:26379/name/0`, `redis+cluster://host1:6379,host2:6379`,
 *   with options of `redisStore` as its query: `?namespace=shop&maxTtl=1m`,
 * - `postgres://user:password@host:5432/database`, with options of `postgresStore` and of the
 *   client as its query: `?schema=locks&sslmode=require`,
 * - `mysql://user:password@host:3306/database` or `mariadb://…`, with options of `mysqlStore` and
 *   of the client as its query: `?prefix=locks_`,
 * - `etcd://user:password@host1:2379,host2:2379`, `etcds:` for TLS, with options of `etcdStore` as
 *   its query: `?prefix=locks/`,
 * - `zookeeper://user:password@host1:2181,host2:2181/chroot`, `zookeepers:` for TLS, with options
 *   of `zookeeperStore` as its query: `?path=/locks`.
 *
 * Clients are imported when needed, so use this only in programs that are not bundled.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { openStore } from 'holdfast/connect';
 *
 * const locks = createLocks(await openStore('sqlite:./locks.db'), { wait: '5s' });
 *
 * @throws UsageError if the URL is malformed, UnsupportedError if no client for it is installed.
 */
export async function openStore(url: string): Promise<Store> {
  if (typeof url !== 'string') throw new UsageError('The URL of a store must be a string.');
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? [];
  if (scheme === undefined) {
    throw new UsageError(`A store is named by a URL such as 'sqlite:./locks.db' or 'memory:'.`);
  }
  if (scheme === 'memory') {
    if (rest !== '') throw new UsageError(`'memory:' takes nothing after the colon.`);
    const { memoryStore } = await import('./stores/memory/index.ts');
    return memoryStore();
  }
  if (scheme === 'sqlite') return openSqlite(rest);
  if (REDIS.includes(scheme)) {
    const { openRedisUrl } = await import('./stores/redis/open-url.ts');
    return openRedisUrl(scheme, rest);
  }
  if (POSTGRES.includes(scheme)) {
    const { openPostgresUrl } = await import('./stores/postgres/open-url.ts');
    return openPostgresUrl(rest);
  }
  if (MYSQL.includes(scheme)) {
    const { openMysqlUrl } = await import('./stores/mysql/open-url.ts');
    return openMysqlUrl(scheme, rest);
  }
  if (ETCD.includes(scheme)) {
    const { openEtcdUrl } = await import('./stores/etcd/open-url.ts');
    return openEtcdUrl(scheme, rest);
  }
  if (ZOOKEEPER.includes(scheme)) {
    const { openZookeeperUrl } = await import('./stores/zookeeper/open-url.ts');
    return openZookeeperUrl(scheme, rest);
  }
  throw new UsageError(`There is no store for '${scheme}:'${suggest(scheme)}.`);
}

async function openSqlite(path: string): Promise<Store> {
  const file = path.startsWith('//') ? path.slice(2) : path;
  if (file === '') throw new UsageError(`'sqlite:' needs a file, as in 'sqlite:./locks.db'.`);
  const { sqliteStore } = await import('./stores/sqlite/index.ts');
  return sqliteStore(file);
}

function suggest(scheme: string): string {
  const near = nearest(scheme.toLowerCase(), KNOWN);
  return near ? `; did you mean '${near}:'?` : `; there are ${KNOWN.join(', ')}`;
}
