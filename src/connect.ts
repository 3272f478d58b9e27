import { createRequire } from 'node:module';
import { join } from 'node:path';
import { UsageError } from './base/errors.ts';
import { nearest } from './base/nearest.ts';
import { flag } from './base/options.ts';
import type { Store } from './contract/store.ts';
import { createLocks, type Locks } from './locks.ts';
import { ready } from './operators/ready.ts';
import type { LocksOptions } from './primitives/lock-options.ts';

interface Opener {
  openUrl(scheme: string, rest: string): Store | Promise<Store>;
}

const REDIS = (): Promise<Opener> => import('./stores/redis/open-url.ts');
const REDISSON = (): Promise<Opener> => import('./stores/redis/redisson/open-url.ts');
const POSTGRES = (): Promise<Opener> => import('./stores/postgres/open-url.ts');
const MYSQL = (): Promise<Opener> => import('./stores/mysql/open-url.ts');
const ETCD = (): Promise<Opener> => import('./stores/etcd/open-url.ts');
const ZOOKEEPER = (): Promise<Opener> => import('./stores/zookeeper/open-url.ts');
const MONGODB = (): Promise<Opener> => import('./stores/mongodb/open-url.ts');
const TABLE = (): Promise<Opener> => import('./stores/table/open-url.ts');
const CONSUL = (): Promise<Opener> => import('./stores/consul/open-url.ts');

const OPENERS: ReadonlyMap<string, () => Promise<Opener>> = new Map([
  ['memory', () => import('./stores/memory/open-url.ts')],
  ['sqlite', () => import('./stores/sqlite/open-url.ts')],
  ['redis', REDIS],
  ['rediss', REDIS],
  ['redis+unix', REDIS],
  ['redis+sentinel', REDIS],
  ['rediss+sentinel', REDIS],
  ['redis+cluster', REDIS],
  ['rediss+cluster', REDIS],
  ['redisson+redis', REDISSON],
  ['redisson+rediss', REDISSON],
  ['redisson+redis+cluster', REDISSON],
  ['postgres', POSTGRES],
  ['postgresql', POSTGRES],
  ['mysql', MYSQL],
  ['mariadb', MYSQL],
  ['table+postgres', TABLE],
  ['table+postgresql', TABLE],
  ['table+mysql', TABLE],
  ['table+mariadb', TABLE],
  ['etcd', ETCD],
  ['etcds', ETCD],
  ['zookeeper', ZOOKEEPER],
  ['zookeepers', ZOOKEEPER],
  ['s3', () => import('./stores/objects/open-url.ts')],
  ['dynamodb', () => import('./stores/dynamodb/open-url.ts')],
  ['mongodb', MONGODB],
  ['mongodb+srv', MONGODB],
  ['consul', CONSUL],
  ['consuls', CONSUL],
  ['kubernetes', () => import('./stores/kubernetes/open-url.ts')],
  ['hazelcast', () => import('./stores/hazelcast/open-url.ts')],
  ['module', async () => ({ openUrl: openModule })],
]);

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
 *   with options of `redisStore` as its query: `?namespace=shop&maxTtl=1m`,
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
  if (typeof url !== 'string') throw new UsageError('The URL of a store must be a string.');
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? [];
  if (scheme === undefined) {
    throw new UsageError(`A store is named by a URL such as 'sqlite:./locks.db' or 'memory:'.`);
  }
  const opener = await OPENERS.get(scheme)?.();
  if (opener) return opener.openUrl(scheme, rest);
  throw new UsageError(`There is no store for '${scheme}:'${suggest(scheme)}.`);
}

/** A name is looked up from the directory that the program runs in, as `require` does there. */
async function openModule(_scheme: string, rest: string): Promise<Store> {
  const [, name = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(rest) ?? [];
  if (name === '') throw new UsageError(`'module:' needs a package or a file: module:./store.mjs`);
  const open = load(name);
  if (typeof open === 'function') return open(query);
  throw new UsageError(`The default export of ${name} must be a function that returns a store.`);
}

function load(name: string): unknown {
  try {
    const loaded = createRequire(join(process.cwd(), 'package.json'))(name);
    return loaded?.default ?? loaded;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`The module ${name} cannot be loaded: ${reason}`, { cause });
  }
}

function suggest(scheme: string): string {
  const known = [...OPENERS.keys()];
  const near = nearest(scheme.toLowerCase(), known);
  return near ? `; did you mean '${near}:'?` : `; there are ${known.join(', ')}`;
}
