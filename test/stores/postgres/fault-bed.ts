/** PostgreSQL as the fault tests of all stores see it. */
import type { Store } from 'holdfast';
import { migratePostgres, type PostgresClient, postgresStore } from 'holdfast/postgres';
import { literal } from '../../../src/stores/postgres/fragments.ts';
import { statementsOf } from '../../../src/stores/postgres/statements.ts';
import { MAX_TTL_MS, type Place } from '../../methods/faults/bed.ts';
import { SqlBed } from '../../methods/faults/sql-bed.ts';
import {
  type PostgresServer,
  type PostgresOptions as ServerOptions,
  startPostgres,
} from '../../servers/postgres-server.ts';
import { type ClientName, clientOf, type StoreOptions, sessionOn } from './bed.ts';

/** The schema of the locks has the name of the bed, too. */
export class Bed extends SqlBed<StoreOptions, PostgresServer, ServerOptions> {
  protected readonly tables: readonly string[] = ['lock', 'kept'];

  constructor(shared?: PostgresServer) {
    super(shared ?? startPostgres);
  }

  store(at: Place, { client = 'pg', ...options }: StoreOptions = {}): Store {
    const known = { schema: this.name, maxTtl: MAX_TTL_MS };
    return this.use(postgresStore(this.clientOf(client, at), { ...known, ...options }));
  }

  urlOf(at: Place, maxTtlMs: number): string {
    return `${this.#loginAt(at)}?schema=${this.name}&maxTtl=${maxTtlMs}ms`;
  }

  clientOf(name: ClientName, at: Place): PostgresClient {
    return clientOf(name, this.#loginAt(at));
  }

  async block(server: PostgresServer, resource: string): Promise<{ close(): Promise<void> }> {
    const client = await sessionOn(this, server);
    await client.query('BEGIN');
    await client.query(this.lockOf(resource));
    return { close: () => client.end().catch(() => {}) };
  }

  /** The statement that locks its row, or makes it. */
  lockOf(resource: string): string {
    const values = `(name, rev, last, until) VALUES ('${resource}', 1, 0, 0)`;
    const row = `INSERT INTO ${this.name}.lock ${values}`;
    return `${row} ON CONFLICT (name) DO UPDATE SET rev = lock.rev`;
  }

  sessions(server: PostgresServer): Promise<number[]> {
    return this.#pidsWhere(server, 'true');
  }

  blocked(server: PostgresServer): Promise<number[]> {
    return this.#pidsWhere(server, "wait_event_type = 'Lock'");
  }

  protected async prepare(server: PostgresServer): Promise<void> {
    await server.query(`CREATE ROLE ${this.name} LOGIN SUPERUSER`);
    await migratePostgres(this.clientOf('pg', server), { schema: this.name });
  }

  rows(server: PostgresServer, table: string): Promise<unknown[]> {
    return server.query(`SELECT * FROM ${this.name}.${table}`);
  }

  protected async sweep(server: PostgresServer): Promise<void> {
    await server.query(`UPDATE ${this.name}.kept SET until = until - 3600000000`);
    const texts = statementsOf(this.name);
    await server.query(literal(texts.raise_highest ?? '', ['-3600000000']));
    await server.query(literal(texts.sweep ?? '', ['', '500', '-3600000000']));
  }

  protected endSession(server: PostgresServer, pid: number): Promise<unknown> {
    return server.query('SELECT pg_terminate_backend($1)', [pid]);
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
