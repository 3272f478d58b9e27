/**
 * Types that the public ones are made of, and that no program has to name: what a client of the
 * user's looks like from here, requests of the clients of etcd and ZooKeeper, and parts of JSON.
 * The site shows their names only. A type that is missing here is an error, and so is one too many.
 */
const BY_FILE: Readonly<Record<string, readonly string[]>> = {
  'src/clients/etcd/client.ts': ['Compare', 'Granted', 'Reply', 'Txn', 'Watcher'],
  'src/clients/etcd/etcd-client.ts': ['EtcdClientOptions'],
  'src/clients/mysql/mariadb-connection.ts': ['MariadbClient'],
  'src/clients/mysql/mysql2-connection.ts': ['Mysql2Client'],
  'src/clients/postgres/pg-connection.ts': ['PgClient', 'PgPool'],
  'src/clients/postgres/postgres-js-connection.ts': ['PostgresJs'],
  'src/clients/redis/ioredis-link.ts': ['IoredisClient', 'IoredisCluster'],
  'src/clients/redis/link.ts': ['Reply'],
  'src/clients/redis/node-redis-link.ts': [
    'NodeRedisClient',
    'NodeRedisCluster',
    'NodeRedisSentinel',
  ],
  'src/clients/zookeeper/protected-create.ts': ['Making', 'ProtectedTerms', 'Within'],
  'src/clients/zookeeper/session/session.ts': ['Asking', 'SessionState'],
  'src/clients/zookeeper/watches.ts': ['SessionListener', 'Watcher', 'Watches'],
  'src/clients/zookeeper/wire/requests.ts': [
    'Created',
    'NodeAcl',
    'NodeChildren',
    'NodeData',
    'Request',
    'Stat',
  ],
  'src/clients/zookeeper/zookeeper-session.ts': ['StepAt', 'Versioned', 'Watched'],
  'src/core/events.ts': ['LongWait'],
  'src/fences/sql/dialects.ts': ['FenceDialect'],
  'src/integrations/decorator/locked.ts': ['Fitting'],
  'src/jobs/refresh/refresh.ts': ['Maybe'],
  'src/primitives/lockable.ts': ['TryOptions'],
  'src/queue/json.ts': ['ClaimJson', 'TakeoverJson', 'TombstoneJson'],
  'src/queue/queue.ts': ['Entering'],
  'src/queue/state.ts': ['WholeState'],
  'src/interop/redisson/scripts.ts': ['Mutex'],
  'src/stores/zookeeper/layout.ts': ['Recipe'],
  'src/testkit/documents/cases.ts': ['Optional'],
};

export const UNEXPORTED: string[] = Object.entries(BY_FILE).flatMap(([file, names]) =>
  names.map((name) => `${file}:${name}`),
);
