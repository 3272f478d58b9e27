/** The world of a block that needs a server: whatever address it names, it is given ours. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { connect as connectAnywhere } from 'holdfast/connect';
import * as etcd from 'holdfast/etcd';
import * as hazelcastLocks from 'holdfast/hazelcast';
import * as redisLocks from 'holdfast/redis';
import * as redissonLocks from 'holdfast/redisson';
import * as shedlockLocks from 'holdfast/shedlock';
import * as springLocks from 'holdfast/spring';
import * as zookeeper from 'holdfast/zookeeper';
import { Redis } from 'ioredis';
import { Kysely, PostgresDialect } from 'kysely';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import postgres from 'postgres';
import { createClient } from 'redis';
import { type Module, namesIn } from '../methods/guide/blocks.ts';
import { openWorld, type World } from '../methods/guide/world.ts';
import type { Snippet } from '../methods/tidy/snippets.ts';
import type { Ground } from './page-ground.ts';

/** Notes what has to be done with it in the end, and answers it. */
type Keep = <T>(item: T, end: (item: T) => unknown) => T;

export async function openServerWorld(block: Snippet, ground: Ground): Promise<World> {
  const world = await openWorld();
  const keep: Keep = (item, end) => {
    world.stops.push(() => end(item));
    return item;
  };
  const clients = clientsOf(ground, keep);
  for (const name of namesIn(block)) {
    const make = clients[name];
    if (make) world.names[name] = await make();
  }
  const { replaced } = world;
  const { connect } = replaced['holdfast/connect'] as { connect: typeof connectAnywhere };
  const url = `${ground.redis.url}?afterDataLoss=trust`;
  const ours: typeof connect = (_url, options) => connect(url, options);
  const modules = modulesOf(ground, keep, clients);
  Object.assign(replaced, modules, { 'holdfast/connect': { connect: ours } });
  return world;
}

type Clients = Readonly<Record<string, () => unknown>>;

/** What docs/snippets.d.ts declares, by its name. */
function clientsOf(ground: Ground, keep: Keep): Clients {
  const newPool = (): pg.Pool =>
    keep(new pg.Pool({ connectionString: ground.postgres.url }), (pool) => pool.end());
  return {
    pool: newPool,
    kysely: () => new Kysely({ dialect: new PostgresDialect({ pool: newPool() }) }),
    drizzle: () => drizzle({ client: newPool() }),
    prisma: () => prismaOn(newPool()),
    sql: () => keep(postgres(ground.postgres.url, { max: 2 }), (sql) => sql.end()),
    mysql: () => keep(createPool(ground.mariadb.url), (pool) => pool.end()),
    redis: () => keep(new Redis(ground.redis.url), (redis) => redis.disconnect()),
    etcd: () => keep(etcd.etcdClient(ground.etcd.url), (client) => client.close()),
    hazelcast: async () => keep(await ground.hazelcast.connect(), (client) => client.shutdown()),
    session: () => {
      const client = zookeeper.zookeeperClient(ground.zookeeper.url);
      return keep(client.start(), (session) => session.close());
    },
  };
}

/** As much of Prisma's client as the pages use. */
function prismaOn(pool: pg.Pool): object {
  return {
    async $transaction(work: (tx: object) => Promise<unknown>) {
      const client = await pool.connect();
      await client.query('BEGIN');
      const done = await work({
        _activeProvider: 'postgresql',
        $queryRawUnsafe: async (sql: string, ...values: unknown[]) =>
          (await client.query(sql, values)).rows,
        $executeRawUnsafe: async (sql: string, ...values: unknown[]) =>
          (await client.query(sql, values)).rowCount,
      });
      await client.query('COMMIT');
      client.release();
      return done;
    },
  };
}

/** The packages of clients, and the entries whose stores are given an address. */
function modulesOf(ground: Ground, keep: Keep, clients: Clients): Record<string, Module> {
  const trust = { afterDataLoss: 'trust' };
  const file = (name: string): string => readFileSync(join(ground.closedEtcd.folder, name), 'utf8');
  // The reader's own key and certificate are the server's here.
  const files = new Map([
    ['me.crt', file('server.crt')],
    ['me.key', file('server.key')],
    ['ca.crt', `${file('ca.crt')}${ground.ca}`],
  ]);
  return {
    ioredis: { Redis: redisAt(ground, keep) },
    redis: {
      createClient: () =>
        keep(createClient({ url: ground.redis.url }), (ours) => ours.isOpen && ours.destroy()),
    },
    pg: {
      Pool: class extends pg.Pool {
        constructor() {
          super({ connectionString: ground.postgres.url });
          keep(this, (pool) => pool.end());
        }
      },
    },
    // As a default import finds it.
    postgres: { __esModule: true, default: clients.sql },
    'mysql2/promise': { createPool: clients.mysql },
    'holdfast/redisson': { redissonStore: deciding(redissonLocks.redissonStore, trust) },
    'holdfast/redis': {
      redisStore: deciding(redisLocks.redisStore, trust),
      plainRedisStore: deciding(redisLocks.plainRedisStore, trust),
    },
    'hazelcast-client': { Client: { newHazelcastClient: clients.hazelcast } },
    // One member is enough to try what the pages say.
    'holdfast/hazelcast': {
      hazelcastStore: deciding(hazelcastLocks.hazelcastStore, { allowUnsafe: true }),
      fencedLockStore: deciding(hazelcastLocks.fencedLockStore, { allowUnsafe: true }),
    },
    'holdfast/shedlock': {
      ...shedlockLocks,
      shedlockRedisStore: deciding(shedlockLocks.shedlockRedisStore, trust),
    },
    'holdfast/spring': {
      ...springLocks,
      springRedisStore: deciding(springLocks.springRedisStore, trust),
    },
    'holdfast/etcd': etcdAt(ground, clients),
    'holdfast/zookeeper': zookeeperAt(ground, clients),
    'node:fs': { readFileSync: (name: string) => files.get(name) },
  };
}

/** What opens a store, with these options whatever the page says. */
function deciding(open: (client: never, options: never) => unknown, more: object): unknown {
  return (client: never, options?: object) => open(client, { ...options, ...more } as never);
}

/** Each host is a database of its own. */
function redisAt({ redis }: Ground, keep: Keep): new (where?: unknown) => Redis {
  const hosts: string[] = [];
  const databaseOf = (host: string): number => {
    if (!hosts.includes(host)) hosts.push(host);
    return hosts.indexOf(host);
  };
  return class extends Redis {
    constructor(where?: unknown) {
      const { host = '' } = typeof where === 'object' ? (where as { host?: string }) : {};
      super({ port: redis.port, db: databaseOf(host), lazyConnect: true });
      keep(this, (client) => client.disconnect());
    }
  };
}

function etcdAt({ etcd: open, closedEtcd }: Ground, clients: Clients): Module {
  const { etcdStore } = etcd;
  return {
    etcdStore(...[address, options]: Parameters<typeof etcdStore>) {
      const isClosed = typeof address === 'object' && 'tls' in address;
      const ours = isClosed ? { ...address, endpoints: [closedEtcd.url] } : open.url;
      return etcdStore(ours, options);
    },
    etcdClient: clients.etcd,
  };
}

function zookeeperAt({ zookeeper: server }: Ground, clients: Clients): Module {
  const { zookeeperStore } = zookeeper;
  return {
    zookeeperStore(...[address, options]: Parameters<typeof zookeeperStore>) {
      const isClosed = typeof address === 'object' && 'tls' in address;
      const ours = isClosed ? { ...address, servers: [`localhost:${server.tlsPort}`] } : server.url;
      return zookeeperStore(ours, options);
    },
    zookeeperClient: () => ({ start: clients.session }),
  };
}
