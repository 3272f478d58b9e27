/** Servers of all kinds, with what the pages take as given there: something of the reader's. */
import { etcdClient } from 'holdfast/etcd';
import { sqlFence } from 'holdfast/fence';
import { migrateMysql } from 'holdfast/mysql';
import { migratePostgres } from 'holdfast/postgres';
import { zookeeperClient } from 'holdfast/zookeeper';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { intLock, SHEDLOCK } from '../interop/rows/tables.ts';
import { type EtcdServer, startEtcd } from './etcd-server.ts';
import { HazelcastCluster } from './hazelcast-cluster.ts';
import { startMariadb } from './mariadb-server.ts';
import type { MysqlServer } from './mysql-server.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { RedisServer } from './redis-server.ts';
import { certificates } from './tls.ts';
import { startZookeeper, type ZookeeperServer } from './zookeeper-server.ts';

const POSTGRES = [
  `CREATE TABLE stock (sku text PRIMARY KEY, n integer NOT NULL,
    reserved integer NOT NULL DEFAULT 0, version bigint NOT NULL DEFAULT 0)`,
  'CREATE TABLE "Stock" (sku text PRIMARY KEY)',
  'CREATE TABLE task (id integer PRIMARY KEY, state text NOT NULL, worker text)',
  sqlFence({ dialect: 'postgres' }).schema,
  SHEDLOCK.postgres,
  intLock('postgres', 7),
];
const MARIADB = `CREATE TABLE stock (sku varchar(100) PRIMARY KEY, n integer NOT NULL,
  version bigint NOT NULL DEFAULT 0)`;

/** Keys in etcd. */
const KEYS = { 'stock/book': '3', config: 'as it was', colour: 'red' };

/** Nodes in ZooKeeper. */
const NODES = { '/stock': '3', '/stock/book': '3', '/colour': 'red', '/shop': '' };

interface Servers {
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  readonly mariadb: MysqlServer;
  readonly etcd: EtcdServer;
  /** It lets in nobody without a certificate and a password. */
  readonly closedEtcd: EtcdServer;
  readonly zookeeper: ZookeeperServer;
  /** One member, without the CP Subsystem. */
  readonly hazelcast: HazelcastCluster;
  /** The certificate of the authority that those who speak TLS with ZooKeeper have to trust. */
  readonly ca: string;
}

export interface Ground extends Servers {
  /** Makes everything of the reader's what it was before, as this code takes it for given. */
  reset(code: string): Promise<void>;
  /** Everything of the reader's, as text. */
  look(): Promise<string>;
  close(): Promise<void>;
}

export async function openGround(): Promise<Ground> {
  const ground = await startServers();
  const { redis, postgres, mariadb, etcd, zookeeper } = ground;
  await migrate(ground);
  const client = etcdClient(etcd.url);
  const session = zookeeperClient(zookeeper.url).start();
  for (const path of Object.keys(NODES)) await session.create(path);

  return {
    ...ground,

    async reset(code) {
      await postgres.query('TRUNCATE stock, "Stock", task, holdfast_fence');
      await postgres.query("INSERT INTO stock VALUES ('book', 3)");
      await postgres.query(`INSERT INTO "Stock" VALUES ('book')`);
      const state = code.includes("'new'") ? 'new' : '0';
      await postgres.query('INSERT INTO task VALUES (7, $1)', [state]);
      await mariadb.query('DELETE FROM stock');
      await mariadb.query("INSERT INTO stock (sku, n) VALUES ('book', 3)");
      const fences = (await redis.command('KEYS', 'holdfast-fence:*')) as string[];
      await redis.command('DEL', 'stock:book', ...fences);
      if (code.includes('HGET')) await redis.command('HSET', 'stock:book', 'left', 3);
      else await redis.command('MSET', 'stock:book', 3, 'stock', 3);
      const puts = Object.entries(KEYS).map(([key, value]) => ({ put: { key, value } }));
      await client.txn({ success: puts });
      for (const [path, text] of Object.entries(NODES)) {
        await session.setData(path, Buffer.from(text));
      }
    },

    async look() {
      const keys = Object.keys(KEYS).map((key) => ({ range: { key } }));
      const { answers } = await client.txn({ success: keys });
      const nodes = Object.keys(NODES).map((path) => session.getData(path));
      return JSON.stringify([
        await postgres.query('SELECT * FROM stock, task'),
        await mariadb.query('SELECT * FROM stock'),
        await redis.command('DUMP', 'stock:book'),
        await redis.command('DUMP', 'stock'),
        answers.map(
          (answer) => 'range' in answer && answer.range.kvs.map(({ value }) => `${value}`),
        ),
        (await Promise.all(nodes)).map(({ data }) => `${data}`),
      ]);
    },

    async close() {
      client.close();
      await session.close();
      const { closedEtcd, hazelcast } = ground;
      const servers = [redis, postgres, mariadb, etcd, closedEtcd, zookeeper, hazelcast];
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

async function startServers(): Promise<Servers> {
  const files = await certificates();
  const pem = `${files['server.key']}${files['server.crt']}`;
  const users = [{ name: 'locks', password: 'secret', prefix: 'shop/locks/' }];
  const [redis, postgres, mariadb, etcd, closedEtcd, zookeeper, hazelcast] = await Promise.all([
    RedisServer.start(),
    startPostgres(),
    startMariadb(),
    startEtcd(),
    startEtcd({ tls: 'client-certificates', users }),
    startZookeeper({ tls: { pem } }),
    HazelcastCluster.start({ cpMembers: 0 }),
  ]);
  const ca = files['ca.crt'] ?? '';
  return { redis, postgres, mariadb, etcd, closedEtcd, zookeeper, hazelcast, ca };
}

async function migrate({ postgres, mariadb }: Servers): Promise<void> {
  const pool = new pg.Pool({ connectionString: postgres.url });
  await migratePostgres(pool);
  await pool.end();
  const mysql = createPool(mariadb.url);
  await migrateMysql(mysql);
  await mysql.end();
  for (const sql of POSTGRES) await postgres.query(sql);
  await mariadb.query(MARIADB);
}
