/** The servers that figures need. One that several need is started for the first of them. */
import { join } from 'node:path';
import { startCluster } from '../test/servers/cluster.ts';
import { EtcdServer, startEtcd } from '../test/servers/etcd-server.ts';
import { HAZELCAST, HazelcastCluster } from '../test/servers/hazelcast-cluster.ts';
import { startMariadb } from '../test/servers/mariadb-server.ts';
import { freePort, giveBack } from '../test/servers/ports.ts';
import { startPostgres } from '../test/servers/postgres-server.ts';
import { startSingle } from '../test/servers/topologies.ts';
import {
  curatorVersion,
  startZookeeper,
  ZookeeperServer,
} from '../test/servers/zookeeper-server.ts';
import { until } from '../test/support/until.ts';
import { scratchFolder } from './measuring/processes.ts';
import type { Place } from './measuring/subject.ts';

export interface Servers {
  readonly places: readonly Place[];
  /** What they are, for the line below a table. */
  readonly label?: string;
  /** What a figure may have done to them; each returns when it was done. */
  readonly deeds?: Deeds;
}

export type Deeds = Readonly<Record<string, () => Promise<number>>>;

/** As they are by default; what the tests have made smaller for themselves is put back. */
const POSTGRES = [
  'max_connections = 700',
  'shared_buffers = 128MB',
  'max_wal_size = 1GB',
  'shared_preload_libraries = pg_stat_statements',
  // One figure lets an hour pass within a minute.
  'autovacuum_naptime = 1s',
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

const [ONE, THREE] = ['one server', 'three servers'];

const STARTS: Readonly<Record<string, () => Promise<Servers>>> = {
  memory: async () => ({ places: [{ name: ONE, url: 'memory:', pids: [] }] }),
  sqlite: async () => {
    const folder = scratchFolder();
    return { places: [{ name: 'one file', url: `sqlite:${join(folder, 'locks.db')}`, pids: [] }] };
  },
  redis: async () => {
    const server = opened(await startSingle());
    const version = /redis_version:(\S+)/.exec(String(await server.command('INFO', 'server')))?.[1];
    return { places: [{ name: ONE, url: server.url, pids: [] }], label: `Redis ${version}` };
  },
  'redis/four': async () => {
    const places: Place[] = [];
    for (let n = 0; n < 4; n++) {
      places.push({ name: ONE, url: opened(await startSingle()).url, pids: [] });
    }
    return { places };
  },
  'redis/cluster': async () => {
    // Or every process that uses it would be warned.
    const { nodes } = opened(await startCluster({ config: ['min-replicas-to-write 1'] }));
    const addresses = nodes.map(({ url }) => url.replace('redis://', ''));
    return { places: [{ name: 'in a cluster', url: `redis+cluster://${addresses}`, pids: [] }] };
  },
  postgres: async () => {
    const server = opened(await startPostgres({ config: POSTGRES }));
    const [row] = await server.query('SHOW server_version');
    const places = [{ name: ONE, url: server.url, pids: [server.pid] }];
    return { places, label: `PostgreSQL ${row?.server_version}` };
  },
  mysql: async () => {
    const server = opened(await startMariadb({ config: MARIADB }));
    const [row] = await server.query('SELECT VERSION() AS version');
    const url = server.url.replace(/^\w+:/, 'mysql:');
    const places = [{ name: ONE, url, pids: [server.pid] }];
    return { places, label: String(row?.version) };
  },
  etcd: async () => {
    const { clientUrl, pid } = opened(await startEtcd({ config: ETCD }));
    const versions = (await (await fetch(`${clientUrl}/version`)).json()) as { etcdserver: string };
    const url = clientUrl.replace('http:', 'etcd:');
    return { places: [{ name: ONE, url, pids: [pid] }], label: `etcd ${versions.etcdserver}` };
  },
  'etcd/three': threeEtcds,
  zookeeper: async () => {
    const server = opened(await startZookeeper({ inProduction: true }));
    const version = /version: ([\d.]+)/.exec(await server.fourLetters('srvr'))?.[1];
    const label = `ZooKeeper ${version}; Curator ${await curatorVersion()}`;
    return { places: [{ name: ONE, url: server.url, pids: [server.pid] }], label };
  },
  'zookeeper/three': threeZookeepers,
  hazelcast: async () => {
    const options = { sessionTtlSeconds: HAZELCAST_SESSION_S, inProduction: true };
    const { url, members } = opened(await HazelcastCluster.start(options));
    const places = [{ name: THREE, url, pids: members.map(({ pid }) => pid) }];
    return { places, label: `Hazelcast ${HAZELCAST.version}, three members` };
  },
};

const open: { close(): Promise<unknown> }[] = [];
const started = new Map<string, Servers>();

/** Of a store by its scheme, with `more` of them if there are. */
export async function serversOf(scheme: string, more?: string): Promise<Servers> {
  const all: Servers[] = [];
  for (const name of [scheme, `${scheme}/${more}`]) {
    // Each figure has a file of its own.
    const servers = (name !== 'sqlite' && started.get(name)) || (await STARTS[name]?.());
    if (!servers) continue;
    started.set(name, servers);
    all.push(servers);
  }
  const [first, second] = all;
  return { ...first, ...second, places: all.flatMap(({ places }) => places) };
}

export async function closeServers(): Promise<void> {
  started.clear();
  await Promise.all(open.splice(0).map((one) => one.close()));
}

function opened<T extends { close(): Promise<unknown> }>(server: T): T {
  open.push(server);
  return server;
}

/** What is needed of one of three. */
interface Member {
  readonly running: boolean;
  readonly pid: number;
  start(): Promise<void>;
  kill(): Promise<void>;
  close(): Promise<void>;
}

interface Kind<S extends Member> {
  readonly url: string;
  readonly servers: readonly S[];
  /** Rejects or returns false while it has no part in the cluster. */
  serves(server: S): Promise<boolean>;
  leads(server: S): Promise<boolean>;
}

/** They agree, and reach each other directly; each can be killed. */
async function three<S extends Member>({ url, servers, serves, leads }: Kind<S>): Promise<Servers> {
  for (const server of servers) opened(server);
  const mend = async (): Promise<number> => {
    const dead = servers.filter(({ running }) => !running);
    await Promise.all(dead.map((server) => server.start()));
    await until('were all there', async () =>
      (await Promise.all(servers.map(serves))).every(Boolean),
    );
    return now();
  };
  const killLeader = async (): Promise<number> => {
    const leading = await Promise.all(servers.map(leads));
    const leader = servers[leading.indexOf(true)];
    if (!leader) throw new Error('Nobody leads.');
    const at = now();
    await leader.kill();
    return at;
  };
  await mend();
  const pids = servers.map(({ pid }) => pid);
  return { places: [{ name: THREE, url, pids }], deeds: { killLeader, mend } };
}

const IDS = [1, 2, 3];

async function threeZookeepers(): Promise<Servers> {
  const members: Record<number, string> = {};
  for (const id of IDS) {
    const ports = [await freePort(), await freePort()];
    open.push({ close: async () => ports.forEach(giveBack) });
    members[id] = ['127.0.0.1', ...ports].join(':');
  }
  const options = { inProduction: true, config: ['initLimit=10', 'syncLimit=5'] };
  const servers: ZookeeperServer[] = [];
  for (const id of IDS) servers.push(await ZookeeperServer.prepare(options, { id, members }));
  return three({
    url: `zookeeper://${servers.map(({ address }) => address).join()}`,
    servers,
    serves: async (server) => (await server.mode()) !== undefined,
    leads: async (server) => (await server.mode()) === 'leader',
  });
}

async function threeEtcds(): Promise<Servers> {
  const ports = await Promise.all(IDS.map(freePort));
  const peers = ports.map((port, n) => [`member-${n}`, `http://127.0.0.1:${port}`] as const);
  const servers: EtcdServer[] = [];
  for (const [n, peerPort] of ports.entries()) {
    const membership = { name: `member-${n}`, peerPort, peers, certificates: undefined };
    servers.push(await EtcdServer.member(membership, { config: ETCD }));
  }
  return three({
    url: `etcd://${servers.map(({ host, port }) => `${host}:${port}`).join()}`,
    servers,
    serves: (server) => server.healthy(),
    leads: (server) => server.leads(),
  });
}

/** In ns of the machine's monotonic clock. */
function now(): number {
  return Number(process.hrtime.bigint());
}
