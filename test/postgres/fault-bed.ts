/** PostgreSQL as the fault tests of all stores see it. */
import type { Store } from 'holdfast';
import {
  migratePostgres,
  type PostgresClient,
  type PostgresOptions,
  postgresStore,
} from 'holdfast/postgres';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { expect } from 'vitest';
import { MAX_TTL_MS, type Place } from '../faults/bed.ts';
import { SqlBed } from '../faults/sql-bed.ts';
import {
  type PostgresServer,
  type PostgresOptions as ServerOptions,
  startPostgres,
} from '../servers/postgres-server.ts';
import { until } from '../servers/until.ts';

export type ClientName = 'pg' | 'postgres.js';

export interface StoreOptions extends PostgresOptions {
  /** Default `pg`. */
  readonly client?: ClientName;
}

let beds = 0;

export class Bed extends SqlBed<StoreOptions, PostgresServer> {
  /** The schema of the locks, and the user that stores connect as. */
  readonly name: string = `bed_${++beds}`;
  readonly #shared: PostgresServer | undefined;

  /** A server that several use at a time must not suffer. Default: each time another one. */
  constructor(shared?: PostgresServer) {
    super();
    this.#shared = shared;
  }

  async server(options?: ServerOptions): Promise<PostgresServer> {
    const server = this.#shared ?? this.serve(await startPostgres(options));
    await server.query(`CREATE ROLE ${this.name} LOGIN SUPERUSER`);
    await migratePostgres(this.clientOf('pg', server), { schema: this.name });
    return server;
  }

  store(at: Place, { client = 'pg', ...options }: StoreOptions = {}): Store {
    const known = { schema: this.name, maxTtl: MAX_TTL_MS };
    return this.use(postgresStore(this.clientOf(client, at), { ...known, ...options }));
  }

  urlOf(at: Place, maxTtlMs: number): string {
    return `${this.#loginAt(at)}?schema=${this.name}&maxTtl=${maxTtlMs}ms`;
  }

  /** Never connected itself: the store makes connections like it. */
  clientOf(name: ClientName, at: Place): PostgresClient {
    const url = this.#loginAt(at);
    return name === 'pg' ? new Pool({ connectionString: url }) : postgres(url);
  }

  async endSessions(server: PostgresServer): Promise<void> {
    for (const pid of await this.sessions(server)) {
      await server.query('SELECT pg_terminate_backend($1)', [pid]);
    }
  }

  async block(server: PostgresServer, resource: string): Promise<{ close(): Promise<void> }> {
    const client = new Client({ connectionString: server.url });
    // It may end with its server.
    client.on('error', () => {});
    await client.connect();
    const other = this.use({ close: () => client.end().catch(() => {}) });
    await client.query('BEGIN');
    const row = `INSERT INTO ${this.name}.resource (name, kind, number) VALUES ($1, 'm', 0)`;
    await client.query(`${row} ON CONFLICT (name) DO UPDATE SET kind = resource.kind`, [resource]);
    return other;
  }

  /** Process numbers of the sessions of stores. */
  sessions(server: PostgresServer): Promise<number[]> {
    return this.#pidsWhere(server, 'true');
  }

  blocked(server: PostgresServer): Promise<number[]> {
    return this.#pidsWhere(server, "wait_event_type = 'Lock'");
  }

  /** No sessions, no claims; and what is kept for a while is swept when it is over. */
  async expectNothingLeft(server: PostgresServer): Promise<void> {
    // The server hears of a closed connection a moment later.
    await until('were all sessions over', async () => (await this.sessions(server)).length === 0);
    expect(await server.query('SELECT FROM pg_prepared_xacts')).toEqual([]);
    // Whom a release did not reach in time passes by itself.
    await until('were all claims over', async () => {
      return (await server.query(`SELECT ${this.name}.names('', 100)`)).length === 0;
    });
    const [clock] = await server.query<{ body: string }>(
      `SELECT prosrc AS body FROM pg_proc WHERE oid = '${this.name}.micros'::regproc`,
    );
    await server.query(`CREATE OR REPLACE FUNCTION ${this.name}.micros() RETURNS bigint
      LANGUAGE sql VOLATILE AS $$ ${clock?.body} + 3600000000 $$`);
    await server.query(`SELECT ${this.name}.sweep()`);
    for (const table of ['resource', 'claim', 'grave']) {
      expect(await server.query(`SELECT * FROM ${this.name}.${table}`), table).toEqual([]);
    }
  }

  async #pidsWhere(server: PostgresServer, condition: string): Promise<number[]> {
    const rows = await server.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE usename = '${this.name}' AND ${condition}`,
    );
    return rows.map(({ pid }) => pid);
  }

  #loginAt({ host, port }: Place): string {
    return `postgres://${this.name}@${host}:${port}/postgres`;
  }
}
