/** The servers that figures need. One that several need is started for the first of them. */
import { join } from 'node:path';
import { tableSchema } from 'holdfast/table';
import { ConsulServer } from '../test/servers/consul-server.ts';
import { startEtcd } from '../test/servers/etcd-server.ts';
import { HAZELCAST, HazelcastCluster } from '../test/servers/hazelcast-cluster.ts';
import { startMariadb } from '../test/servers/mariadb-server.ts';
import { MongodbServer } from '../test/servers/mongodb-server.ts';
import { startPostgres } from '../test/servers/postgres-server.ts';
import { RedisServer } from '../test/servers/redis-server.ts';
import { startZookeeper } from '../test/servers/zookeeper-server.ts';
import { startTable } from '../test/stores/dynamodb/table.ts';
import { startBucket } from '../test/stores/objects/bucket.ts';
import { scratchFolder } from './measuring/processes.ts';
import type { Place } from './measuring/subject.ts';

export interface Server extends Place {
  /** What it is, for the line below a table. */
  readonly label?: string;
}

/** As they are by default; what the tests have made smaller for themselves is put back. */
const POSTGRES = [
  'max_connections = 700',
  'shared_buffers = 128MB',
  'max_wal_size = 1GB',
  'shared_preload_libraries = pg_stat_statements',
];
const MARIADB = [
  '--max-connections=700',
  '--innodb-buffer-pool-size=128M',
  '--innodb-log-file-size=96M',
];
/** With the timing of its makers, not that of the tests. */
const ETCD = ['--heartbeat-interval=100', '--election-timeout=1000'];

/** As by default, and as `fencedLockStore` takes it to be. */
const HAZELCAST_SESSION_S = 60;

/** With credentials, which clients want, and servers for tests believe. */
function byAws(place: string, endpoint: string): string {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  return `${place}?region=us-east-1&endpoint=${endpoint}`;
}

const STARTS: Readonly<Record<string, () => Promise<Server>>> = {
  memory: async () => ({ url: 'memory:', pids: [] }),
  sqlite: async () => ({ url: `sqlite:${join(scratchFolder(), 'locks.db')}`, pids: [] }),
  redis: async () => {
    const server = opened(await RedisServer.start());
    const version = /redis_version:(\S+)/.exec(String(await server.command('INFO', 'server')))?.[1];
    return { url: server.url, pids: [], label: `Redis ${version}` };
  },
  postgres: async () => {
    const server = opened(await startPostgres({ config: POSTGRES }));
    const [row] = await server.query('SHOW server_version');
    const label = `PostgreSQL ${row?.server_version}`;
    return { url: server.url, pids: [server.pid], label };
  },
  table: async () => {
    const server = opened(await startPostgres({ config: POSTGRES }));
    await server.query(tableSchema('postgres'));
    return { url: `table+${server.url}`, pids: [] };
  },
  mysql: async () => {
    const server = opened(await startMariadb({ config: MARIADB }));
    const [row] = await server.query('SELECT VERSION() AS version');
    const url = server.url.replace(/^\w+:/, 'mysql:');
    return { url, pids: [server.pid], label: String(row?.version) };
  },
  etcd: async () => {
    const { clientUrl, pid } = opened(await startEtcd({ config: ETCD }));
    const versions = (await (await fetch(`${clientUrl}/version`)).json()) as { etcdserver: string };
    const url = clientUrl.replace('http:', 'etcd:');
    return { url, pids: [pid], label: `etcd ${versions.etcdserver}` };
  },
  zookeeper: async () => {
    const server = opened(await startZookeeper({ inProduction: true }));
    const version = /version: ([\d.]+)/.exec(await server.fourLetters('srvr'))?.[1];
    return { url: server.url, pids: [server.pid], label: `ZooKeeper ${version}` };
  },
  hazelcast: async () => {
    const options = { sessionTtlSeconds: HAZELCAST_SESSION_S, inProduction: true };
    const { url, members } = opened(await HazelcastCluster.start(options));
    const label = `Hazelcast ${HAZELCAST.version}, three members`;
    return { url, pids: members.map(({ pid }) => pid), label };
  },
  mongodb: async () => {
    const { url } = opened(await MongodbServer.start());
    return { url: url.replace('/?', '/test?'), pids: [] };
  },
  consul: async () => {
    const { url } = opened(await ConsulServer.start());
    return { url: url.replace('http:', 'consul:'), pids: [] };
  },
  dynamodb: async () => {
    const { url } = opened(await startTable());
    return { url: byAws('dynamodb://locks', url), pids: [], label: 'DynamoDB Local' };
  },
  s3: async () => {
    const { url } = opened(await startBucket());
    const place = byAws('s3://locks/', url);
    return { url: `${place}&forcePathStyle=true`, pids: [], label: 'moto for S3' };
  },
};

const open: { close(): Promise<unknown> }[] = [];
const started = new Map<string, Server[]>();

/** So many of a store, by its scheme. */
export async function serversOf(scheme: string, count = 1): Promise<readonly Server[]> {
  // Each figure has a file of its own.
  const all = (scheme !== 'sqlite' && started.get(scheme)) || [];
  started.set(scheme, all);
  const start = STARTS[scheme];
  while (start && all.length < count) all.push(await start());
  return all.slice(0, count);
}

export async function closeServers(): Promise<void> {
  started.clear();
  await Promise.all(open.splice(0).map((one) => one.close()));
}

function opened<T extends { close(): Promise<unknown> }>(server: T): T {
  open.push(server);
  return server;
}
