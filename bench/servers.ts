/** The servers that figures need. One that several need is started for the first of them. */
import { fileURLToPath } from 'node:url';
import { startCluster } from '../test/servers/cluster.ts';
import { startEtcd } from '../test/servers/etcd-server.ts';
import { startMariadb } from '../test/servers/mariadb-server.ts';
import { startPostgres } from '../test/servers/postgres-server.ts';
import { startFive, startSingle } from '../test/servers/topologies.ts';
import {
  curatorVersion,
  longJavaProgram,
  startZookeeper,
} from '../test/servers/zookeeper-server.ts';
import { type Three, threeEtcds, threeZookeepers } from './three.ts';

export interface Servers {
  /** Where a figure finds them. */
  readonly env: Readonly<Record<string, string>>;
  /** What they are, for the line below its table. */
  readonly names: readonly string[];
  /** What a figure may have done to them; each answers when it was done. */
  readonly deeds?: Deeds;
}

export type Deeds = Readonly<Record<string, () => Promise<number>>>;

interface Closable {
  close(): Promise<unknown>;
}

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

const CURATOR = fileURLToPath(new URL('zookeeper/curator-bench.java', import.meta.url));

const STARTS: Readonly<Record<string, () => Promise<Servers>>> = {
  redis: async () => {
    const server = opened(await startSingle());
    const version = /redis_version:(\S+)/.exec(String(await server.command('INFO', 'server')))?.[1];
    return { env: { BENCH_REDIS_URL: server.url }, names: [`Redis ${version}`] };
  },
  cluster: async () => {
    // Or every process that uses it would be warned.
    const { nodes } = opened(await startCluster({ config: ['min-replicas-to-write 1'] }));
    return { env: { BENCH_REDIS_CLUSTER: nodes.map(({ url }) => url).join() }, names: [] };
  },
  quorum: async () => {
    const five = await startFive();
    five.forEach(opened);
    return { env: { BENCH_QUORUM: five.map(({ url }) => url).join() }, names: [] };
  },
  postgres: async () => {
    const server = opened(await startPostgres({ config: POSTGRES }));
    const [row] = await server.query('SHOW server_version');
    return databaseAt('postgres', server, `PostgreSQL ${row?.server_version}`);
  },
  etcd: async () => {
    const server = opened(await startEtcd({ config: ETCD }));
    const at = { url: server.clientUrl, pid: server.pid };
    const answer = await (await fetch(`${at.url}/version`)).json();
    const versions = answer as { etcdserver: string };
    return databaseAt('etcd', at, `etcd ${versions.etcdserver}`);
  },
  'etcd/three': async () => threeAt(opened(await threeEtcds(ETCD))),
  zookeeper: async () => {
    const server = opened(await startZookeeper({ inProduction: true }));
    const said = await server.fourLetters('srvr');
    const version = /version: ([\d.]+)/.exec(said)?.[1];
    const at = databaseAt('zookeeper', server, `ZooKeeper ${version}`);
    const program = await longJavaProgram(CURATOR);
    return {
      env: { ...at.env, BENCH_CURATOR: JSON.stringify(program) },
      names: [...at.names, `Curator ${await curatorVersion()}`],
    };
  },
  'zookeeper/three': async () => threeAt(opened(await threeZookeepers())),
  mysql: async () => {
    const server = opened(await startMariadb({ config: MARIADB }));
    const [row] = await server.query('SELECT VERSION() AS version');
    return databaseAt('mysql', server, String(row?.version));
  },
};

const started = new Map<string, Servers>();
const open: Closable[] = [];

/** Beside those that the folder of a figure names. */
const MORE: Readonly<Record<string, string>> = {
  'redis/cluster': 'cluster',
  once: 'redis',
  refresh: 'redis',
  inventory: 'postgres',
  'fences/redis': 'redis',
  'fences/postgres': 'postgres',
  ...withThree('etcd'),
  ...withThree('zookeeper'),
};

export async function serversFor(figure: string): Promise<Servers> {
  const [folder = ''] = figure.split('/');
  const part = folder === 'sql' ? 'postgres' : folder;
  const all: Servers[] = [];
  for (const name of [part, MORE[figure] ?? '']) {
    const servers = started.get(name) ?? (await STARTS[name]?.());
    if (!servers) continue;
    started.set(name, servers);
    all.push(servers);
  }
  return {
    env: Object.assign({}, ...all.map(({ env }) => env)),
    names: all.flatMap(({ names }) => names),
    deeds: Object.assign({}, ...all.map(({ deeds }) => deeds)),
  };
}

function withThree(name: string): Record<string, string> {
  const figures = ['three', 'dead-holder', 'dead-leader'];
  return Object.fromEntries(figures.map((figure) => [`${name}/${figure}`, `${name}/three`]));
}

export async function closeServers(): Promise<void> {
  await Promise.all(open.splice(0).map((one) => one.close()));
}

function opened<T extends Closable>(server: T): T {
  open.push(server);
  return server;
}

function threeAt(three: Three): Servers {
  return {
    env: { BENCH_THREE_URL: three.url, BENCH_THREE_PIDS: three.pids.join() },
    names: [],
    deeds: { killLeader: () => three.killLeader(), mend: () => three.mend() },
  };
}

function databaseAt(
  name: string,
  { url, pid }: { readonly url: string; readonly pid: number },
  version: string,
): Servers {
  const env = {
    BENCH_DATABASE: name,
    BENCH_DATABASE_URL: url,
    BENCH_DATABASE_PID: String(pid),
  };
  return { env, names: [version] };
}
