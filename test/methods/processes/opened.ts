/** How programs that end by themselves come by their stores: from a URL, or from own clients. */
import { createRequire } from 'node:module';
import type { Store } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { fencedLockStore, type HazelcastClient, hazelcastStore } from 'holdfast/hazelcast';
import { leaseLockStore } from 'holdfast/kubernetes';
import { mongodbStore } from 'holdfast/mongodb';
import { type MysqlClient, mysqlStore } from 'holdfast/mysql';
import { type PostgresClient, postgresStore } from 'holdfast/postgres';
import { quorum } from 'holdfast/quorum';
import { plainRedisStore, type RedisClient, redisStore } from 'holdfast/redis';
import { springJdbcStore, springRedisStore } from 'holdfast/spring';

export interface OpenTerms {
  /** A URL, of the store or of this client; of Hazelcast its members, of a quorum several. */
  readonly url: string;
  readonly client?: string | undefined;
  /** For an ORM: a file that finds its package. */
  readonly modules?: string | undefined;
}

interface Opened {
  readonly store: Store;
  /** The program has to end what it has connected itself. */
  end?(): Promise<unknown>;
}

const TRUST = { afterDataLoss: 'trust' } as const;

/**
 * Clients that the program has made itself, or stores that no URL names.
 *
 * Most stores connect as a client would, which itself never does. Those with an `end` do: a pool
 * that does not show how lends a connection, and the others are used as they are.
 */
const OPEN: Readonly<Record<string, (url: string, modules: string) => Promise<Opened>>> = {
  ioredis: async (url) => ({ store: redisStore(await ioredis(url), TRUST) }),
  async 'node-redis'(url) {
    const { createClient } = await import('redis');
    // A ping of the client's own is under way again and again.
    const client = createClient({ url: bare(url), pingInterval: 1000 });
    return { store: redisStore(client, TRUST) };
  },
  'plain keys': async (url) => ({ store: plainRedisStore(await ioredis(url), TRUST) }),
  "Spring's keys": async (url) => ({
    store: springRedisStore(await ioredis(url), { ...TRUST, registryKey: 'shop' }),
  }),
  'a quorum': async (urls) => ({
    store: quorum(await Promise.all(urls.split(' ').map((url) => openStore(url)))),
  }),
  async pg(url) {
    const { default: pg } = await import('pg');
    return { store: postgresStore(new pg.Pool({ connectionString: url })) };
  },
  async postgres(url) {
    const { default: postgres } = await import('postgres');
    return { store: postgresStore(postgres(url)) };
  },
  async "Spring's table by Kysely"(url) {
    const { Kysely, PostgresDialect } = await import('kysely');
    const { default: pg } = await import('pg');
    // While it is idle, only a wait keeps the process alive.
    const pool = new pg.Pool({ connectionString: url, allowExitOnIdle: true });
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
    return { store: springJdbcStore(db, { version: 7 }), end: () => db.destroy() };
  },
  async mysql2(url) {
    const { createPool } = await import('mysql2/promise');
    return { store: mysqlStore(createPool(url)) };
  },
  async mariadb(url) {
    const { createPool } = await import('mariadb');
    const pool = createPool(url);
    return { store: mysqlStore(pool), end: () => pool.end() };
  },
  Knex: (url, modules) => withOrm('Knex', url, modules),
  Sequelize: (url, modules) => withOrm('Sequelize', url, modules),
  async mongodb(url) {
    const { MongoClient } = await import('mongodb');
    const client = new MongoClient(url);
    const store = mongodbStore(client.db().collection('holdfast'));
    return { store, end: () => client.close() };
  },
  hazelcast: (members) => onHazelcast(members, hazelcastStore),
  'fenced locks': (members) => onHazelcast(members, fencedLockStore),
  async "client-go's leases"(url) {
    const options = Object.fromEntries(new URL(url).searchParams);
    return { store: leaseLockStore({ ...options, retry: 50 }) };
  },
};

export async function opened({ url, client, modules = '' }: OpenTerms): Promise<Opened> {
  if (client === undefined) return { store: await openStore(url) };
  const open = OPEN[client];
  if (!open) throw new Error(`There is no client '${client}'.`);
  return open(url, modules);
}

/** Without options of the store, which a client would refuse. */
function bare(url: string): string {
  return url.replace(/\?.*/, '');
}

async function ioredis(url: string): Promise<RedisClient> {
  const { Redis } = await import('ioredis');
  return new Redis(bare(url), { lazyConnect: true });
}

async function withOrm(name: string, url: string, modules: string): Promise<Opened> {
  const { ORMS } = await import('../../database-locks/orms.ts');
  const dialect = url.startsWith('postgres') ? 'postgres' : 'mysql';
  const { pool, close } = await ORMS[name]!(createRequire(modules), dialect, url);
  const store =
    dialect === 'postgres'
      ? postgresStore(pool as PostgresClient)
      : mysqlStore(pool as MysqlClient);
  return { store, end: close };
}

async function onHazelcast(
  members: string,
  storeOn: (client: HazelcastClient) => Store,
): Promise<Opened> {
  const { Client } = await import('hazelcast-client');
  const client = await Client.newHazelcastClient({
    ...{ clusterName: 'tests', network: { clusterMembers: members.split(',') } },
    properties: { 'hazelcast.logging.level': 'OFF' },
  });
  return { store: storeOn(client), end: () => client.shutdown() };
}
