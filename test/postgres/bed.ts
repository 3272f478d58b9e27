/** What the tests share: servers, clients, stores and locks, which end with the test. */
import { randomBytes } from 'node:crypto';
import { type Claim, createLocks, type Locks, type Store } from 'holdfast';
import {
  migratePostgres,
  type PostgresClient,
  type PostgresOptions,
  postgresStore,
} from 'holdfast/postgres';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import {
  type PostgresServer,
  type PostgresOptions as ServerOptions,
  startPostgres,
} from '../servers/postgres-server.ts';
import { until } from '../servers/until.ts';

/** Three heartbeats fit even when the machine is busy, and a few lives fit into a test. */
export const TTL_MS = 1000;

export type ClientName = 'pg' | 'postgres';

export const CLIENTS: readonly ClientName[] = ['pg', 'postgres'];

/** Never connected itself: the store makes connections like it. */
export function clientOf(name: ClientName, url: string): PostgresClient {
  return name === 'pg' ? new Pool({ connectionString: url }) : postgres(url);
}

/** Where a server, or what stands before it, listens. */
export interface Place {
  readonly url: string;
}

export interface StoreOptions extends PostgresOptions {
  /** Default `pg`. */
  readonly client?: ClientName;
}

interface Closable {
  close?(): unknown;
}

export class Bed implements AsyncDisposable {
  readonly #servers: Closable[] = [];
  readonly #users: Closable[] = [];

  async [Symbol.asyncDispose](): Promise<void> {
    for (const user of this.#users.splice(0).reverse()) await user.close?.();
    // What stands before a server goes first.
    for (const server of this.#servers.splice(0).reverse()) await server.close?.();
  }

  /** Closes it with the test: a server, or what stands before one. */
  serve<T extends Closable>(server: T): T {
    this.#servers.push(server);
    return server;
  }

  /** Closes it before the servers. */
  use<T extends Closable>(user: T): T {
    this.#users.push(user);
    return user;
  }

  async server(options?: ServerOptions): Promise<PostgresServer> {
    const server = this.serve(await startPostgres(options));
    await migratePostgres(clientOf('pg', server.url));
    return server;
  }

  store({ url }: Place, { client = 'pg', ...options }: StoreOptions = {}): Store {
    return this.use(postgresStore(clientOf(client, url), options));
  }

  /** As the program that has the locks may ask, past them. */
  async query({ url }: Place, text: string): Promise<unknown[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    return (await client.query(text).finally(() => client.end())).rows;
  }

  locks(at: Place, options: StoreOptions = {}, ttl: number = TTL_MS): Locks {
    const locks = createLocks(this.store(at, options), { ttl });
    return this.use({ close: () => locks.close({ drain: 0 }), locks }).locks;
  }
}

export function claimOf(resource: string, over: Partial<Claim> = {}): Claim {
  return {
    ...{ resource, id: randomBytes(16).toString('hex'), kind: 'mutex', permits: 1, limit: 1 },
    ...{ ttlMs: 20_000, queue: true, holder: { host: 'test', pid: process.pid, since: 0 } },
    ...over,
  };
}

/** Process numbers of the sessions of stores. */
export async function sessionsOf(server: PostgresServer): Promise<number[]> {
  const rows = await server.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast' ORDER BY pid",
  );
  return rows.map(({ pid }) => pid);
}

/** Somebody stands in this queue. */
export async function hasWaiter(locks: Locks, name: string): Promise<void> {
  await until('waited anybody', async () => (await locks.inspect(name)).waiters.length > 0);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What it rejects with. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}
