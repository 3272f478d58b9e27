/** A real pgbouncer in front of a PostgreSQL. Whoever connects from loopback is let in. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, giveBack } from './ports.ts';
import type { Login, PostgresServer } from './postgres-server.ts';
import { type Command, findProgram } from './programs.ts';
import { ServerProcess } from './server-process.ts';

export interface PgbouncerOptions {
  /** What a client keeps to itself: a connection of the server for a transaction, or for all. */
  readonly mode: 'transaction' | 'session';
  /** So many connections of the server for each user and database. Default: 20. */
  readonly poolSize?: number;
  /** Lines of its configuration, which win over those of every pooler. */
  readonly config?: readonly string[];
  /** Default: what `pgbouncer` is here. */
  readonly program?: Command;
}

export class Pgbouncer {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly #server: PostgresServer;
  readonly #program: Command;
  readonly #process = new ServerProcess('pgbouncer', { refusesRoot: true });

  static async start(server: PostgresServer, options: PgbouncerOptions): Promise<Pgbouncer> {
    const program = options.program ?? (await findProgram('pgbouncer'));
    const pooler = new Pgbouncer(server, program, await freePort());
    try {
      await pooler.#configure(options);
      await pooler.start();
      return pooler;
    } catch (error) {
      await pooler.close();
      throw error;
    }
  }

  private constructor(server: PostgresServer, program: Command, port: number) {
    this.#server = server;
    this.#program = program;
    this.port = port;
  }

  get url(): string {
    return this.urlOf();
  }

  /** As that of the server. */
  urlOf(login: Login = {}): string {
    return this.#server.urlOf(login).replace(`:${this.#server.port}/`, `:${this.port}/`);
  }

  get pid(): number {
    return this.#process.pid;
  }

  get log(): string {
    return this.#process.log;
  }

  async start(): Promise<void> {
    await this.#process.start([...this.#program, this.#file], process.env, async () => {
      await this.query('show version');
      return true;
    });
  }

  async kill(): Promise<void> {
    await this.#process.kill();
  }

  /** Kills it, and all connections with it, and starts it again. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  pause(): void {
    this.#process.pause();
  }

  resume(): void {
    this.#process.resume();
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

  /** Ends it and removes its folder. */
  async close(): Promise<void> {
    await this.#process.close();
    giveBack(this.port);
  }

  get #file(): string {
    return join(this.#process.folder, 'pgbouncer.ini');
  }

  async #configure({ mode, poolSize = 20, config = [] }: PgbouncerOptions): Promise<void> {
    const { host, port } = this.#server;
    const lines = [
      '[databases]',
      `* = host=${host} port=${port}`,
      '[pgbouncer]',
      `listen_addr = ${this.host}`,
      `listen_port = ${this.port}`,
      'unix_socket_dir =',
      // Who there is, it asks the server.
      'auth_type = trust',
      'auth_user = postgres',
      `auth_file = ${join(this.#process.folder, 'users')}`,
      'admin_users = postgres',
      `pool_mode = ${mode}`,
      `default_pool_size = ${poolSize}`,
      'max_client_conn = 1000',
      ...config,
    ];
    await writeFile(join(this.#process.folder, 'users'), '"postgres" ""\n');
    await writeFile(this.#file, `${lines.join('\n')}\n`);
  }
}

export function startPgbouncer(
  server: PostgresServer,
  options: PgbouncerOptions,
): Promise<Pgbouncer> {
  return Pgbouncer.start(server, options);
}
