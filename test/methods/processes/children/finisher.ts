/** Does something with one mutex, and then has nothing else to do. */

import { createLocks, type Store } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { hazelcastStore } from 'holdfast/hazelcast';
import { mongodbStore } from 'holdfast/mongodb';
import { mysqlStore } from 'holdfast/mysql';
import { postgresStore } from 'holdfast/postgres';
import { redisStore } from 'holdfast/redis';
import { given, tell } from './talk.ts';

/** Clients that the program has made itself, not the store from its URL. */
export type OwnClient =
  | 'ioredis'
  | 'node-redis'
  | 'pg'
  | 'postgres'
  | 'mysql2'
  | 'mariadb'
  | 'mongodb'
  | 'hazelcast';

export interface FinisherOptions {
  /** A URL, of the store or of this client; of Hazelcast its members. */
  readonly url: string;
  readonly client?: OwnClient | undefined;
  readonly name: string;
  /** What it leaves out: to close the locks, or to release the lease as well. */
  readonly leaves: 'nothing' | 'locks' | 'lease';
}

interface Opened {
  readonly store: Store;
  /** The program has to end what it has connected itself. */
  end?(): Promise<unknown>;
}

/** The last three connect: the store asks the pool of `mariadb` how to, and the others for all. */
const OPEN: Record<OwnClient, (url: string) => Promise<Opened>> = {
  async ioredis(url) {
    const { Redis } = await import('ioredis');
    const client = new Redis(url, { lazyConnect: true });
    return { store: redisStore(client, { afterDataLoss: 'trust' }) };
  },
  async 'node-redis'(url) {
    const { createClient } = await import('redis');
    // A ping of the client's own is under way again and again.
    const client = createClient({ url, pingInterval: 1000 });
    return { store: redisStore(client, { afterDataLoss: 'trust' }) };
  },
  async pg(url) {
    const { default: pg } = await import('pg');
    return { store: postgresStore(new pg.Pool({ connectionString: url })) };
  },
  async postgres(url) {
    const { default: postgres } = await import('postgres');
    return { store: postgresStore(postgres(url)) };
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
  async mongodb(url) {
    const { MongoClient } = await import('mongodb');
    const client = new MongoClient(url);
    const store = mongodbStore(client.db().collection('holdfast'));
    return { store, end: () => client.close() };
  },
  async hazelcast(members) {
    const { Client } = await import('hazelcast-client');
    const client = await Client.newHazelcastClient({
      ...{ clusterName: 'tests', network: { clusterMembers: members.split(',') } },
      properties: { 'hazelcast.logging.level': 'OFF' },
    });
    return { store: hazelcastStore(client), end: () => client.shutdown() };
  },
};

const { url, client, name, leaves } = given<FinisherOptions>();
const { store, end } = client ? await OPEN[client](url) : { store: await openStore(url) };
const locks = createLocks(store);
await tell({ type: 'asks' });
const lease = await locks.mutex(name).acquire();
await tell({ type: 'granted' });
if (leaves !== 'lease') await lease.release();
if (leaves === 'nothing') await locks.close();
await end?.();
await tell({ type: 'done' });
