/** A real pgbouncer in front of a PostgreSQL. Whoever connects from loopback is let in. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './ports.ts';
import type { Login, PostgresServer } from './postgres-server.ts';
import { type Command, findProgram } from './programs.ts';
import { LocalServer, started } from './server-process.ts';

interface PgbouncerOptions {
  /** What a client keeps to itself: a connection of the server for a transaction, or for all. */
  readonly mode: 'transaction' | 'session';
  /** So many connections of the server for each user and database. Default: 20. */
  readonly poolSize?: number;
}

export class Pgbouncer extends LocalServer {
  readonly #server: PostgresServer;
  readonly #file: string;

  constructor(
    server: PostgresServer,
    options: PgbouncerOptions & { readonly program: Command; readonly port: number },
  ) {
    const { program, port, mode, poolSize = 20 } = options;
    super({ name: 'pgbouncer', program, ports: [port], refusesRoot: true });
    this.#server = server;
    this.#file = join(this.folder, 'pgbouncer.ini');
    const lines = [
      '[databases]',
      `* = host=${server.host} port=${server.port}`,
      '[pgbouncer]',
      `listen_addr = ${this.host}`,
      `listen_port = ${port}`,
      'unix_socket_dir =',
      // Who there is, it asks the server.
      'auth_type = trust',
      'auth_user = postgres',
      `auth_file = ${join(this.folder, 'users')}`,
      'admin_users = postgres',
      `pool_mode = ${mode}`,
      `default_pool_size = ${poolSize}`,
      'max_client_conn = 1000',
    ];
    writeFileSync(join(this.folder, 'users'), '"postgres" ""\n');
    writeFileSync(this.#file, `${lines.join('\n')}\n`);
  }

  override get url(): string {
    return this.urlOf();
  }

  /** As that of the server. */
  urlOf(login: Login = {}): string {
    return this.#server.urlOf(login).replace(`:${this.#server.port}/`, `:${this.port}/`);
  }

  protected get args(): string[] {
    return [this.#file];
  }

  protected answers(): Promise<boolean> {
    return this.query('show version').then(() => true);
  }

  /** One of its own commands, such as `show pools`: the rows. */
  async query(command: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.urlOf({ database: 'pgbouncer' }) });
    client.on('error', () => {});
    try {
      await client.connect();
      const result: pg.QueryResult<Record<string, unknown>> = await client.query(command);
      return result.rows;
    } finally {
      await client.end();
    }
  }
}

export async function startPgbouncer(
  server: PostgresServer,
  options: PgbouncerOptions,
): Promise<Pgbouncer> {
  const program = await findProgram('pgbouncer');
  const pooler = new Pgbouncer(server, { ...options, program, port: await freePort() });
  return started(pooler, () => pooler.start());
}
