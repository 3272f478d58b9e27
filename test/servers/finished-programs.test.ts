/**
 * A program that has nothing left to do ends, although it closed no locks: record 5. With real
 * processes, for nothing else shows what keeps one alive.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateMysql } from 'holdfast/mysql';
import { migratePostgres } from 'holdfast/postgres';
import { tableSchema } from 'holdfast/table';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { intLock } from '../interop/rows/tables.ts';
import { allEnd, ended, LEAVES, program } from '../methods/processes/finished.ts';
import { startTable } from '../stores/dynamodb/table.ts';
import { startBucket } from '../stores/objects/bucket.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { ConsulServer } from './consul-server.ts';
import { missingDynamodb } from './dynamodb-server.ts';
import { startEtcd } from './etcd-server.ts';
import { startMariadb } from './mariadb-server.ts';
import { MongodbServer } from './mongodb-server.ts';
import { type MysqlServer, startMysql } from './mysql-server.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { missing } from './programs.ts';
import { closeAll, RedisServer } from './redis-server.ts';
import { type Sentinels, startSentinels } from './topologies.ts';
import { startZookeeper } from './zookeeper-server.ts';

// The clients of AWS take these from the environment, as the processes do.
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'us-east-1',
});

/** What the test and its programs open. */
type Place = { readonly url: string; close(): Promise<unknown> };

interface Kind {
  readonly start: () => Promise<Place>;
  /** Why it cannot be started here. */
  readonly why?: string | undefined;
  /** `its URL`, which is the default, or the clients by which the store is opened. */
  readonly by?: readonly string[];
}

const STORE_OPTIONS = '?afterDataLoss=trust';

const SERVERS: Record<string, Kind> = {
  SQLite: {
    start: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-finished-'));
      const close = () => rm(folder, { recursive: true, maxRetries: 10 });
      return { url: `sqlite:${join(folder, 'locks.db')}`, close };
    },
  },
  Redis: {
    start: async () => at(await RedisServer.start(), ({ url }) => url + STORE_OPTIONS),
    by: ['its URL', 'ioredis', 'node-redis', 'plain keys', "Spring's keys"],
  },
  Redisson: { start: () => redisson('lock') },
  "Redisson's fair locks": { start: () => redisson('fair') },
  'a Redis Cluster': { start: async () => cluster(await startCluster({ replicas: false })) },
  'Redis with Sentinels': { start: async () => sentinels(await startSentinels()) },
  'three servers of Redis': { start: threeOfRedis, by: ['a quorum'] },
  PostgreSQL: { start: postgres, by: ['its URL', 'pg', 'postgres', "Spring's table by Kysely"] },
  MySQL: { start: async () => mysql(await startMysql()), by: ['its URL', 'mysql2'] },
  MariaDB: { start: async () => mysql(await startMariadb()), by: ['its URL', 'mariadb'] },
  etcd: { start: () => startEtcd() },
  ZooKeeper: { start: () => startZookeeper() },
  'a table of PostgreSQL': { start: () => tableIn(startPostgres(), 'postgres') },
  'a table of PostgreSQL at two addresses, by postgres.js': {
    start: async () =>
      at(await tableIn(startPostgres(), 'postgres'), ({ url }) =>
        url.replace(/@([^/]+)/, '@$1,$1'),
      ),
  },
  'a table of MySQL': { start: () => tableIn(startMysql(), 'mysql') },
  'a table of MariaDB': { start: () => tableIn(startMariadb(), 'mysql') },
  MongoDB: {
    why: await missing('mongodb'),
    // The client that the store has made of a URL keeps the process alive until it is closed.
    by: ['mongodb'],
    start: async () => at(await MongodbServer.start(), ({ url }) => url.replace('/?', '/locks?')),
  },
  Consul: {
    why: await missing('consul'),
    start: async () => at(await ConsulServer.start(), ({ url }) => url.replace('http', 'consul')),
  },
  DynamoDB: {
    why: await missingDynamodb(),
    start: async () => at(await startTable(), ({ url }) => `dynamodb://locks?endpoint=${url}`),
  },
  S3: {
    why: await missing('python'),
    start: async () =>
      at(await startBucket(), ({ url }) => `s3://locks/?endpoint=${url}&forcePathStyle=true`),
  },
};

describe.for(Object.entries(SERVERS))('%s', ([, { start, why, by = ['its URL'] }]) => {
  let server: Place;
  beforeAll(async () => {
    if (why === undefined) server = await start();
  });
  afterAll(() => server?.close());

  test.for(by)('with %s', async (client, { skip }) => {
    skip(why !== undefined, why);
    const { url } = server;
    await allEnd(client === 'its URL' ? { url } : { url, client });
  });
});

test.for(LEAVES)('memory, where it leaves %s', async (leaves) => {
  await ended('it', program({ url: 'memory:', leaves }));
});

function at<T extends { close(): Promise<unknown> }>(
  server: T,
  urlOf: (server: T) => string,
): Place {
  return { url: urlOf(server), close: () => server.close() };
}

async function redisson(mutex: 'lock' | 'fair'): Promise<Place> {
  const options = `${STORE_OPTIONS}&mutex=${mutex}`;
  return at(await RedisServer.start(), ({ url }) => `redisson+${url}${options}`);
}

function cluster({ nodes, addresses }: Cluster): Place {
  const url = `redis+cluster://${listOf(addresses)}${STORE_OPTIONS}`;
  return { url, close: () => closeAll(nodes) };
}

function sentinels({ sentinels, name, close }: Sentinels): Place {
  return { url: `redis+sentinel://${listOf(sentinels)}/${name}${STORE_OPTIONS}`, close };
}

function listOf(servers: readonly { readonly host: string; readonly port: number }[]): string {
  return servers.map(({ host, port }) => `${host}:${port}`).join();
}

async function threeOfRedis(): Promise<Place> {
  const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
  const urls = servers.map(({ url }) => url + STORE_OPTIONS);
  return { url: urls.join(' '), close: () => closeAll(servers) };
}

async function postgres(): Promise<Place> {
  const server = await startPostgres();
  await server.query(intLock('postgres', 7));
  const pool = new pg.Pool({ connectionString: server.url });
  await migratePostgres(pool).finally(() => pool.end());
  return server;
}

async function mysql(server: MysqlServer): Promise<Place> {
  const pool = createPool(server.url.replace('mariadb:', 'mysql:'));
  await migrateMysql(pool).finally(() => pool.end());
  return server;
}

async function tableIn(
  starting: Promise<PostgresServer | MysqlServer>,
  dialect: 'postgres' | 'mysql',
): Promise<Place> {
  const server = await starting;
  await server.query(tableSchema(dialect));
  return at(server, ({ url }) => `table+${url}`);
}
