/**
 * Types that the public ones are made of, and that no program has to name: what a client of the
 * user's looks like from here, requests of the clients of etcd and ZooKeeper, and parts of JSON.
 * The site shows their names only. A type that is missing here is an error, and so is one too many.
 */
const BY_FILE: Readonly<Record<string, readonly string[]>> = {
  'src/base/answer.ts': ['Answer'],
  'src/clients/etcd/client.ts': ['Compare', 'EtcdReply', 'EtcdWatcher', 'Granted', 'Txn'],
  'src/clients/etcd/etcd-client.ts': ['EtcdClientOptions'],
  'src/clients/mysql/mariadb-connection.ts': ['MariadbClient'],
  'src/clients/mysql/mysql2-connection.ts': ['Mysql2Client'],
  'src/clients/postgres/pg-connection.ts': ['PgClient', 'PgPoolClient'],
  'src/clients/postgres/postgres-js-connection.ts': ['PostgresJs'],
  'src/clients/redis/ioredis-link.ts': ['IoredisClient', 'IoredisCluster'],
  'src/clients/redis/node-redis-link.ts': [
    'NodeRedisClient',
    'NodeRedisCluster',
    'NodeRedisSentinel',
  ],
  'src/clients/sql/orm-pools.ts': ['OrmWithPool'],
  'src/clients/zookeeper/session/session.ts': ['Asking', 'SessionChange', 'SessionState'],
  'src/clients/zookeeper/watches.ts': ['NodeWatcher', 'NodeWatches'],
  'src/clients/zookeeper/wire/requests.ts': [
    'Created',
    'NodeChildren',
    'NodeData',
    'Stat',
    'ZookeeperRequest',
  ],
  'src/clients/zookeeper/zookeeper-session.ts': [
    'Making',
    'ProtectedTerms',
    'StepAt',
    'VersionTerms',
    'WatchTerms',
    'Within',
  ],
  'src/core/events.ts': ['LongWait', 'OfAcquisition', 'OfLease', 'OfLock'],
  'src/fences/sql/dialects.ts': ['FenceDialect'],
  'src/integrations/decorator/locked.ts': ['Fitting'],
  'src/jobs/refresh/index.ts': ['Maybe'],
  'src/primitives/lockable.ts': ['TryOptions'],
  'src/queue/json.ts': ['ClaimJson', 'TakeoverJson', 'TombstoneJson'],
  'src/queue/state.ts': ['Entering', 'WholeState'],
  'src/interop/redisson/index.ts': ['RedissonMutex'],
  'src/stores/zookeeper/layout.ts': ['Recipe'],
  'src/testkit/documents/cases.ts': ['Optional'],
};

export const UNEXPORTED: string[] = Object.entries(BY_FILE).flatMap(([file, names]) =>
  names.map((name) => `${file}:${name}`),
);
