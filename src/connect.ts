import { flag } from './base/options.ts';
import type { Store } from './contract/store.ts';
import { createLocks, type Locks } from './locks.ts';
import { ready } from './operators/ready.ts';
import type { LocksOptions } from './primitives/lock-options.ts';
import { openerOf } from './stores/openers.ts';

export interface ConnectOptions extends LocksOptions {
  /** Whether to resolve only once the store has replied, as `ready` does. Default: false. */
  readonly verify?: boolean;
}

/**
 * Locks on the store that the URL names. They own the store: `locks.close()` closes it.
 *
 * @example
 * import { connect } from 'holdfast/connect';
 *
 * const locks = await connect('redis://localhost', { prefix: 'shop:', verify: true });
 *
 * @throws the errors of `openStore` and `createLocks`, and with `verify` those of `ready`.
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Locks> {
  const verify = flag()(options?.verify, 'verify');
  const others = options && Object.entries(options).filter(([name]) => name !== 'verify');
  const locks = createLocks(await openStore(url), others && Object.fromEntries(others));
  if (!verify) return locks;
  try {
    await ready(locks);
    return locks;
  } catch (error) {
    await locks.close().catch(() => {});
    throw error;
  }
}

/**
 * The store that the URL names; its first verb opens it:
 * - `memory:` for this process alone,
 * - `sqlite:` and the path of a file, with options of `sqliteStore` as its query:
 *   `sqlite:./locks.db?busyTimeout=1s`,
 * - `redis://user:password@host:6379/0`, `rediss:` for TLS, `redis+unix:///run/redis.sock?db=0`,
 *   `redis+sentinel://host1:26379,host2:26379/name/0`, `redis+cluster://host1:6379,host2:6379`,
 *   with options of `redisStore` as its query: `?namespace=shop:dev&maxTtl=1m`,
 * - `redisson+redis://…` and the like, for `redissonStore`,
 * - `postgres://user:password@host:5432/database`, with options of `postgresStore` and of the
 *   client as its query: `?schema=locks&sslmode=require`,
 * - `mysql://user:password@host:3306/database` or `mariadb://…`, with options of `mysqlStore` and
 *   of the client as its query: `?prefix=locks_`,
 * - `table+postgres:`, `table+mysql:` or `table+mariadb:` and the same, for `tableStore`, with its
 *   `?table=locks`,
 * - `etcd://user:password@host1:2379,host2:2379`, `etcds:` for TLS, with options of `etcdStore` as
 *   its query: `?prefix=locks/`,
 * - `zookeeper://user:password@host1:2181,host2:2181/chroot`, `zookeepers:` for TLS, with options
 *   of `zookeeperStore` as its query: `?path=/locks`,
 * - `s3://bucket/prefix/?region=eu-west-1` and `dynamodb://table?region=eu-west-1`, with what the
 *   environment tells their SDK,
 * - `mongodb://user:password@host1,host2/database?collection=locks`, else as its client takes it,
 * - `consul://host:8500`, `consuls:` for TLS, with options of `consulStore` as its query,
 * - `kubernetes:` in a pod, with options of `kubernetesStore` as its query: `?namespace=shop`,
 * - `hazelcast://host1:5701,host2:5701/cluster`, with options of `hazelcastStore` as its query,
 * - `module:` and a package or the path of a file, for a store of your own: its default
 *   export is a function that returns the store, given what follows the first `?`.
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
  const { opener, scheme, rest } = await openerOf(url);
  return opener.openUrl(scheme, rest);
}
