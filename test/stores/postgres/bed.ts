/** What the tests share: servers, clients, stores and locks, which end with the test. */
import { createLocks, type Locks, type Store } from 'holdfast';
import type { PostgresClient, PostgresOptions } from 'holdfast/postgres';
import { migratePostgres, postgresStore } from 'holdfast/postgres';
import type { ClaimStatus } from 'holdfast/store';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { afterAll } from 'vitest';
import type { InBed, OnServer } from '../../methods/faults/bed.ts';
import { claimOf, hasWaiter, inBeds, onServer, sleep, TTL_MS } from '../../methods/faults/bed.ts';
import { Lifetime } from '../../methods/faults/lifetime.ts';
import {
  type PostgresServer,
  type PostgresOptions as ServerOptions,
  startPostgres,
} from '../../servers/postgres-server.ts';
import { until } from '../../support/until.ts';

export { failureOf } from '../../support/failures.ts';
export { claimOf, hasWaiter, sleep };

export type ClientName = 'pg' | 'postgres';

export const CLIENTS: readonly ClientName[] = ['pg', 'postgres'];

/** Never connected itself: the store makes connections like it. */
export function clientOf(name: ClientName, url: string): PostgresClient {
  return name === 'pg' ? new Pool({ connectionString: url }) : postgres(url);
}

/** Where a server, or what stands before it, listens. */
export type Place = { readonly url: string };

export interface StoreOptions extends PostgresOptions {
  /** Default `pg`. */
  readonly client?: ClientName;
}

export class Bed extends Lifetime {
  async server(options?: ServerOptions): Promise<PostgresServer> {
    const server = this.serve(await startPostgres(options));
    await this.migrate(server);
    return server;
  }

  migrate({ url }: Place): Promise<void> {
    return migratePostgres(clientOf('pg', url));
  }

  store({ url }: Place, { client = 'pg', ...options }: StoreOptions = {}): Store {
    return this.use(postgresStore(clientOf(client, url), options));
  }

  /** What a program that begins now is told of a lock that nobody has had. */
  async fresh(at: Place, options: StoreOptions = {}): Promise<ClaimStatus | undefined> {
    const store = this.store(at, { maxTtl: '10m', ...options });
    let status: ClaimStatus | undefined;
    // A machine that is busy may not connect in time.
    await until('was asked', async () => {
      [status] = await store.claim([claimOf(`${Math.random()}`)]);
      return status !== undefined;
    });
    await store.close?.();
    return status;
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

/** Tests that run at the same time, in a bed of their own, or on a server as well. */
export const inBed: InBed<Bed> = inBeds(() => new Bed());
export const onOwn: OnServer<Bed, PostgresServer> = onServer(() => new Bed());

/** A server for all tests of a file. */
export async function sharedServer(
  options?: ServerOptions,
): Promise<{ readonly bed: Bed; readonly server: PostgresServer }> {
  const bed = new Bed();
  afterAll(() => bed[Symbol.asyncDispose]());
  return { bed, server: await bed.server(options) };
}

/** A session past the store, which ends with the test. */
export async function sessionOn(bed: Lifetime, { url }: Place): Promise<Client> {
  const client = new Client({ connectionString: url });
  // It may end with its server.
  client.on('error', () => {});
  await client.connect();
  bed.use({ close: () => client.end().catch(() => {}) });
  return client;
}

/** Process numbers of the sessions of stores. */
export async function sessionsOf(server: PostgresServer): Promise<number[]> {
  const rows = await server.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast' ORDER BY pid",
  );
  return rows.map(({ pid }) => pid);
}
