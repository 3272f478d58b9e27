/** Servers for one history at a time, which suffer as the processes do. */
import { migrateMysql } from 'holdfast/mysql';
import { migratePostgres } from 'holdfast/postgres';
import { tableSchema } from 'holdfast/table';
import { createPool } from 'mysql2';
import { Client } from 'pg';
import { ConsulServer } from '../../servers/consul-server.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { KubernetesServer } from '../../servers/kubernetes-server.ts';
import { startMariadb } from '../../servers/mariadb-server.ts';
import { MongodbServer } from '../../servers/mongodb-server.ts';
import { startPostgres } from '../../servers/postgres-server.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import type { LocalServer } from '../../servers/server-process.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { startTable } from '../../stores/dynamodb/table.ts';
import { startBucket } from '../../stores/objects/bucket.ts';
import { paced } from '../../support/this-run.ts';
import type { Sufferer } from './crowd.ts';

export interface Suffering {
  /** Its URL, as `record` takes it. */
  readonly store: string;
  readonly server?: Sufferer;
  /** The least that it can do, if that is much. */
  readonly ttlMs?: number | undefined;
  /** In each process, where more would mostly ask for how long they have to wait. */
  readonly tasks?: number;
  /** What its clients need to know beside the URL. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  close(): Promise<void>;
}

/** Hardly more than the TTL of the clients, so that quarantines leave time for work. */
const MAX_TTL = `maxTtl=${paced(500)}ms`;

/** It stands still and crashes, with its data if it keeps it. */
function suffering(
  server: LocalServer,
  store: string,
  { ttlMs, crash = () => server.restart() }: Partial<Sufferer & { readonly ttlMs: number }> = {},
): Suffering {
  const sufferer = { pause: () => server.pause(), resume: () => server.resume(), crash };
  return { store, ttlMs, server: sufferer, close: () => server.close() };
}

/** It loses its data when it crashes. */
export async function sufferingRedis(): Promise<Suffering> {
  const server = await RedisServer.start();
  const crash = (): Promise<void> => server.restart({ keepData: false });
  return suffering(server, `${server.url}?${MAX_TTL}`, { crash });
}

/** It keeps its data when it crashes, or with `fast` perhaps not the last of them. */
export async function sufferingPostgres(durability: 'strict' | 'fast'): Promise<Suffering> {
  const lazy = ['wal_writer_delay = 10s', 'wal_writer_flush_after = 0'];
  const server = await startPostgres({ config: durability === 'fast' ? lazy : [] });
  await migratePostgres(new Client({ connectionString: server.url }));
  return suffering(server, `${server.url}?${MAX_TTL}&durability=${durability}`);
}

/** It keeps its data when it crashes, or with `fast` perhaps not the last of them. */
export async function sufferingMariadb(durability: 'strict' | 'fast'): Promise<Suffering> {
  const lazy = ['--innodb-flush-log-at-trx-commit=0', '--innodb-flush-log-at-timeout=10'];
  const server = await startMariadb({ config: durability === 'fast' ? lazy : [] });
  const { host, port } = server;
  await migrateMysql(createPool({ host, port, user: 'root', database: 'test' }));
  return suffering(server, `${server.url}?${MAX_TTL}`);
}

/** It keeps its data when it crashes, and its leases end a second late at most. */
export async function sufferingEtcd(): Promise<Suffering> {
  const server = await startEtcd();
  return suffering(server, server.url, { ttlMs: paced(1000) });
}

/** It keeps its data when it crashes, and ends sessions half a TTL and a tick late. */
export async function sufferingZookeeper(): Promise<Suffering> {
  const server = await startZookeeper();
  return suffering(server, server.url);
}

/** Documents in a table, which the database keeps when it crashes. */
export async function sufferingTable(): Promise<Suffering> {
  const server = await startPostgres();
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(tableSchema('postgres')).finally(() => client.end());
  return suffering(server, `table+${server.url}`);
}

/** Documents that it keeps when it crashes. */
export async function sufferingMongodb(): Promise<Suffering> {
  const server = await MongodbServer.start();
  return suffering(server, server.url.replace('/?', '/test?'));
}

/** Documents that it keeps when it crashes; dead claims are told by the clocks of their readers. */
export async function sufferingConsul(): Promise<Suffering> {
  const server = await ConsulServer.start();
  return suffering(server, server.url.replace('http:', 'consul:'));
}

/** As they wait by asking: with three, a third fewer operations are answered in the same time. */
const FEW = { tasks: 2 };

/** Its servers for tests believe all, and take so long that 400 ms would leave none to hold. */
const OF_AWS = {
  ...FEW,
  env: { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'us-east-1' },
  ttlMs: paced(1500),
};

/** Items that it keeps when it crashes. */
export async function sufferingDynamodb(): Promise<Suffering> {
  const server = await startTable({ keepsData: true });
  return { ...suffering(server, `dynamodb://locks?endpoint=${server.url}`), ...OF_AWS };
}

/** Objects in the memory of a server, so it does not crash: all its connections do. */
export async function sufferingObjects(): Promise<Suffering> {
  const server = await startBucket();
  const proxy = await TcpProxy.start(server.port);
  const crash = async (): Promise<void> => proxy.reset();
  const url = `s3://locks/?forcePathStyle=true&endpoint=http://${proxy.host}:${proxy.port}`;
  const close = async (): Promise<void> => {
    proxy.close();
    await server.close();
  };
  return { ...suffering(server, url, { crash }), ...OF_AWS, close };
}

/** Leases of an API server that crashes; its etcd keeps them. Its clock counts whole seconds. */
export async function sufferingKubernetes(): Promise<Suffering> {
  const server = await KubernetesServer.start();
  const { url, ca, admin: token } = server;
  return { ...suffering(server, `kubernetes:?${new URLSearchParams({ url, ca, token })}`), ...FEW };
}

/** A file, which does not suffer. */
async function sufferingSqlite(): Promise<Suffering> {
  return { store: 'sqlite:{folder}/locks.db', close: async () => {} };
}

export const SUFFERING: Readonly<Record<string, () => Promise<Suffering>>> = {
  sqlite: sufferingSqlite,
  redis: sufferingRedis,
  postgres: () => sufferingPostgres('strict'),
  'postgres-fast': () => sufferingPostgres('fast'),
  mariadb: () => sufferingMariadb('strict'),
  'mariadb-fast': () => sufferingMariadb('fast'),
  etcd: sufferingEtcd,
  zookeeper: sufferingZookeeper,
  mongodb: sufferingMongodb,
  table: sufferingTable,
  consul: sufferingConsul,
  dynamodb: sufferingDynamodb,
  objects: sufferingObjects,
  kubernetes: sufferingKubernetes,
};

/** Their servers for tests carry out far less in the same time: so a fifth is asked of them. */
export const SLOW: readonly string[] = ['dynamodb', 'objects', 'kubernetes'];
