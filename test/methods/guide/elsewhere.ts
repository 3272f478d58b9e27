/** The pages and blocks that test/methods/guide/pages.test.ts does not run, and what does. */
import type { Place } from './blocks.ts';

/** What runs the pages whose code is in files of their own. */
export const RUN_BY: Readonly<Record<string, string>> = {
  'docs/guide/dashboard.md': 'test/dashboard/frameworks.test.ts',
  'docs/guide/express-and-fastify.md': 'test/methods/guide/express-and-fastify.test.ts',
  'docs/guide/kubernetes-deployments.md': 'test/methods/guide/kubernetes-deployments.test.ts',
  'docs/guide/nestjs.md': 'test/methods/guide/nestjs.test.ts',
  'docs/guide/next-and-serverless.md': 'test/methods/guide/next-and-serverless.test.ts',
  'docs/guide/scheduled-jobs.md': 'test/methods/guide/scheduled-jobs.test.ts',
  'docs/guide/testing-your-app.md': 'test/methods/guide/testing-your-app.test.ts',
  'docs/guide/workers.md': 'scripts/package/workers.ts',
};

/** Names that mean a server, given or imported, and the server. */
export const SERVERS: Readonly<Record<string, string>> = {
  ...{ pool: 'PostgreSQL', Pool: 'PostgreSQL', postgres: 'PostgreSQL', kysely: 'PostgreSQL' },
  ...{ sql: 'PostgreSQL', prisma: 'PostgreSQL', drizzle: 'PostgreSQL', mysql: 'MySQL' },
  ...{ createPool: 'MySQL', redis: 'Redis', Redis: 'Redis', createClient: 'Redis' },
  ...{ connect: 'Redis', etcd: 'etcd', etcdClient: 'etcd', etcdStore: 'etcd' },
  ...{ session: 'ZooKeeper', zookeeperClient: 'ZooKeeper', zookeeperStore: 'ZooKeeper' },
  ...{ hazelcast: 'Hazelcast', Client: 'Hazelcast' },
};

export interface Listed extends Place {
  /** Of `SERVERS`: which one it needs. */
  readonly uses: string;
  /** Something of the reader's there is another one afterwards. */
  readonly writes: boolean;
}

const at =
  (page: string) =>
  (has: string, uses: string, to?: 'writes'): Listed => ({
    ...{ page, has, uses, writes: to === 'writes' },
  });

const databases = at('docs/guide/database-locks.md');
const fences = (name: string): ReturnType<typeof at> => at(`docs/guide/fences-${name}.md`);
const start = at('docs/guide/getting-started.md');
const moving = at('docs/guide/moving-from-other-libraries.md');
const sharing = at('docs/guide/sharing-locks.md');
const stores = (name: string): ReturnType<typeof at> => at(`docs/stores/${name}.md`);
const source = (name: string): ReturnType<typeof at> => at(`src/${name}.ts`);

/** Blocks that need a server: test/servers/pages.test.ts runs them. */
export const ON_SERVERS: readonly Listed[] = [
  databases('changeState(', 'pool', 'writes'),
  databases('kysely.transaction()', 'kysely', 'writes'),
  databases('transactionLock(', 'sql'),
  databases('optimistic<', 'mysql', 'writes'),
  databases('prisma.$transaction', 'prisma'),
  databases('drizzle.transaction', 'drizzle'),
  fences('sql')("dialect: 'postgres'", 'kysely', 'writes'),
  fences('etcd')('etcdFence()', 'etcdClient', 'writes'),
  fences('zookeeper')('zookeeperFence()', 'zookeeperClient', 'writes'),
  fences('redis')("'SET'", 'Redis', 'writes'),
  fences('redis')('entry.eval(', 'createClient', 'writes'),
  start('new Redis(', 'Redis'),
  start('createClient(', 'createClient'),
  start('connectionString:', 'Pool'),
  start("from 'postgres'", 'postgres'),
  start('createPool(', 'createPool'),
  start('etcdStore(', 'etcdStore'),
  start('zookeeperStore(', 'zookeeperStore'),
  at('docs/guide/redis-in-docker.md')('turn <= 8', 'connect'),
  moving('assertHeld()', 'Redis'),
  moving("run({ wait: '5s' }, async ({ signal }) =>", 'Redis'),
  moving('tryRun(', 'Redis'),
  moving('plainRedisStore(', 'Redis'),
  sharing('plainRedisStore(', 'redis'),
  sharing('redissonStore(', 'redis'),
  stores('redisson')('redissonStore(', 'Redis'),
  source('interop/redisson/index')('redissonStore(', 'redis'),
  sharing('etcdStore(', 'etcdStore'),
  sharing("path: '/locks'", 'zookeeperStore'),
  sharing("recipe: 'latch'", 'zookeeperStore'),
  sharing('fencedLockStore(', 'hazelcast'),
  at('docs/guide/which-lock.md')("dialect: 'postgres'", 'kysely', 'writes'),
  stores('etcd')("etcdStore(['etcd1", 'etcdStore'),
  stores('etcd')('readFileSync(', 'etcdStore'),
  stores('etcd')('etcdStore(etcd)', 'etcdClient'),
  stores('hazelcast')('hazelcastStore(client)', 'Client'),
  stores('hazelcast')('fencedLockStore(', 'hazelcast'),
  stores('mysql')('mysqlStore(createPool', 'createPool'),
  at('docs/reference/sql-clients.md')('drizzle(', 'createPool'),
  stores('postgres')('connectionString:', 'Pool'),
  stores('postgres')("from 'postgres'", 'postgres'),
  stores('postgres')('drizzle(', 'Pool'),
  stores('quorum')('quorum(members)', 'Redis'),
  stores('redis')("redisStore(new Redis('redis://localhost'))", 'Redis'),
  stores('redis')('createClient(', 'createClient'),
  stores('redis')('plainRedisStore(', 'Redis'),
  stores('shedlock')('shedlockJdbcStore(', 'pool'),
  stores('shedlock')('shedlockRedisStore(', 'Redis'),
  stores('spring')('springJdbcStore(', 'pool'),
  stores('spring')('springRedisStore(', 'Redis'),
  stores('table')('tableStore(', 'pool'),
  stores('zookeeper')("zookeeperStore('zookeeper://", 'zookeeperStore'),
  stores('zookeeper')('readFileSync(', 'zookeeperStore'),
  source('connect')("connect('redis://", 'connect'),
  source('fences/etcd')('etcdFence()', 'etcd', 'writes'),
  source('fences/redis/fence')('redisFence()', 'redis', 'writes'),
  source('fences/sql/fence')("dialect: 'postgres'", 'sql', 'writes'),
  source('fences/zookeeper')('zookeeperFence()', 'session', 'writes'),
  source('layers/quorum/index')('quorum(members)', 'Redis'),
  source('database-locks/change-state')('changeState(', 'pool', 'writes'),
  source('clients/sql/errors')('isRetryable(', 'sql', 'writes'),
  source('database-locks/optimistic')('optimistic<', 'pool', 'writes'),
  source('database-locks/retrying')('retrying(', 'sql'),
  source('database-locks/row-lock')('rowLock<', 'sql', 'writes'),
  source('database-locks/transaction-lock')('transactionLock(', 'sql'),
  source('clients/etcd/etcd-client')('etcdClient(', 'etcdClient', 'writes'),
  source('stores/etcd/index')('etcdStore(', 'etcdStore'),
  source('stores/hazelcast/index')('hazelcastStore(', 'Client'),
  source('stores/hazelcast/index')('fencedLockStore(', 'hazelcast'),
  source('stores/mysql/migration')('migrateMysql(', 'mysql'),
  source('stores/postgres/migration')('migratePostgres(', 'pool'),
  source('stores/mysql/index')('mysqlStore(', 'createPool'),
  source('stores/postgres/index')('postgresStore(', 'Pool'),
  source('stores/redis/index')('redisStore(', 'Redis'),
  source('stores/redis/plain-store')('plainRedisStore(', 'redis'),
  source('interop/shedlock/index')('shedlockJdbcStore(', 'pool'),
  source('interop/shedlock/index')('shedlockRedisStore(', 'Redis'),
  source('interop/spring/index')('springJdbcStore(', 'pool'),
  source('interop/spring/index')('springRedisStore(', 'Redis'),
  source('stores/table/index')('tableStore(', 'pool'),
  source('clients/zookeeper/client')('zookeeperClient(', 'zookeeperClient'),
  source('stores/zookeeper/index')('zookeeperStore(', 'zookeeperStore'),
];
