/** A real PostgreSQL, and its streaming standbys. Whoever connects from loopback is let in. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { HANG_MS } from '../support/this-run.ts';
import { until } from '../support/until.ts';
import { freePort } from './ports.ts';
import { halt } from './process-table.ts';
import { beside, type Command, findProgram, folderOf } from './programs.ts';
import { LocalServer, runToEnd, started } from './server-process.ts';
import { copyTemplate } from './templates.ts';

export interface PostgresOptions {
  /** Default: what `postgres` is here. */
  readonly program?: Command;
  /** Default: a free one. */
  readonly port?: number;
  /** Lines of its configuration, such as `fsync = off`, which win over those of every server. */
  readonly config?: readonly string[];
  /** Lines of `pg_hba.conf` that come before those that let everybody in. */
  readonly hba?: readonly string[];
}

/** Who connects, and to which database. Default: the superuser, and the database `postgres`. */
export interface Login {
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
}

const SUPERUSER = 'postgres';

/** What is committed is safe, as by default; it is small, and standbys do not dawdle. */
const CONFIG = [
  ...["listen_addresses = '127.0.0.1'", 'max_connections = 200', 'shared_buffers = 16MB'],
  ...['dynamic_shared_memory_type = mmap', 'jit = off', 'wal_retrieve_retry_interval = 100ms'],
  ...["log_line_prefix = '%m [%p] '", "log_timezone = 'GMT'", "timezone = 'GMT'"],
];

const INITDB = [
  ...[`--username=${SUPERUSER}`, '--auth=trust', '--encoding=UTF8'],
  ...['--locale=C', '--wal-segsize=1', '--no-sync'],
];

const DATA = 'data';

export class PostgresServer extends LocalServer {
  readonly #primary: PostgresServer | undefined;

  static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
    const program = options.program ?? (await findProgram('postgres'));
    const server = new PostgresServer(program, options.port ?? (await freePort()));
    return server.#begin(options, async () => {
      await copyData(program, server.#data);
      await server.#configure(CONFIG);
    });
  }

  private constructor(program: Command, port: number, primary?: PostgresServer) {
    super({
      ...{ name: 'postgres', program, ports: [port], env: { LC_ALL: 'C' } },
      ...{ refusesRoot: true, clearUp: removeSharedMemory },
    });
    this.#primary = primary;
  }

  override get url(): string {
    return this.urlOf();
  }

  urlOf({ user = SUPERUSER, password, database = 'postgres' }: Login = {}): string {
    const names = [user, ...(password === undefined ? [] : [password])].map(encodeURIComponent);
    const where = `${this.host}:${this.port}/${encodeURIComponent(database)}`;
    return `postgres://${names.join(':')}@${where}`;
  }

  protected get args(): string[] {
    return ['-D', this.#data, '-p', `${this.port}`, '-k', this.folder];
  }

  protected answers(): Promise<boolean> {
    return this.query('select 1').then(() => true);
  }

  /** Ends its sessions, and then it. */
  override stop(): Promise<void> {
    return super.stop('SIGINT');
  }

  /** It stands still, or only the session of that pid: nothing is answered, no connection ends. */
  override pause(session?: number): void {
    if (session === undefined) super.pause();
    else halt(session);
  }

  override resume(session?: number): void {
    if (session === undefined) super.resume();
    else process.kill(session, 'SIGCONT');
  }

  /** As the superuser, over a connection of its own, past every proxy and port: the rows. */
  async query<Row extends object = Record<string, unknown>>(
    sql: string,
    values: readonly unknown[] = [],
    { user = SUPERUSER, password, database = 'postgres' }: Login = {},
  ): Promise<Row[]> {
    const client = new pg.Client({
      host: this.folder,
      port: this.port,
      user,
      ...(password !== undefined && { password }),
      database,
      connectionTimeoutMillis: HANG_MS,
      query_timeout: HANG_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const result: pg.QueryResult<Row & pg.QueryResultRow> = await client.query(sql, [...values]);
      return result.rows;
    } finally {
      await client.end();
    }
  }

  /**
   * A read-only copy that follows this server, which does not wait for it. It finds its primary at
   * the port `via`, such as that of a proxy; default: the primary's own.
   */
  async standby({ via = this.port }: { readonly via?: number } = {}): Promise<PostgresServer> {
    const port = await freePort();
    const standby = new PostgresServer(this.program, port, this);
    return standby.#begin({}, async () => {
      const name = `standby_${port}`;
      const following = ['--write-recovery-conf', '--create-slot', '--slot', name];
      await standby.#copy(via, name, following);
    });
  }

  /** A primary of its own with what is here now, started from a base backup. */
  async restored(how: 'as it is' | 'as an archive'): Promise<PostgresServer> {
    const port = await freePort();
    const other = new PostgresServer(this.program, port);
    return other.#begin({}, async () => {
      await other.#copy(this.port, `restored_${port}`);
      if (how === 'as it is') return;
      await other.#configure(["restore_command = 'false'"]);
      await copyFile(join(other.#data, 'PG_VERSION'), join(other.#data, 'recovery.signal'));
    });
  }

  /** What `pg_dump` writes: statements without what only `psql` understands. */
  async dump(options: readonly string[] = []): Promise<string> {
    const file = join(this.folder, 'dump.sql');
    const from = ['--host', this.folder, '--port', `${this.port}`, '--username', SUPERUSER];
    const what = ['--inserts', '--file', file, ...options, 'postgres'];
    await runToEnd([...beside(this.program, 'pg_dump'), ...from, ...what], { env: this.env });
    return (await readFile(file, 'utf8')).replaceAll(/^\\.*$/gm, '');
  }

  async #copy(port: number, name: string, options: readonly string[] = []): Promise<void> {
    const from = `host=${this.host} port=${port} user=${SUPERUSER}`;
    const copying = ['--pgdata', this.#data, '--dbname', `${from} application_name=${name}`];
    const quickly = ['--checkpoint=fast', '--no-sync'];
    const backup = beside(this.program, 'pg_basebackup');
    await runToEnd([...backup, ...copying, ...options, ...quickly], { env: this.env });
  }

  /** Waits until this standby shows all that its primary has committed so far. */
  async inStep(): Promise<void> {
    if (this.#primary === undefined) throw new Error('the server is no standby');
    const [row] = await this.#primary.query('select pg_current_wal_lsn() as written');
    await until('was the standby in step', async () => {
      const [shown] = await this.query<{ all: boolean }>(
        'select pg_last_wal_replay_lsn() >= $1::pg_lsn as all',
        [row?.written],
      );
      return shown?.all === true;
    });
  }

  /** Makes this standby a primary. What it has not received of the old one is lost to it. */
  async promote(): Promise<void> {
    await this.query('select pg_promote()');
  }

  get #data(): string {
    return join(this.folder, DATA);
  }

  #begin(options: PostgresOptions, fill: () => Promise<void>): Promise<this> {
    return started(this, async () => {
      await fill();
      await this.#configure(options.config ?? []);
      await this.#allow(options.hba ?? []);
      await this.start();
    });
  }

  async #configure(lines: readonly string[]): Promise<void> {
    const text = lines.map((line) => `${line}\n`).join('');
    await writeFile(join(this.#data, 'postgresql.conf'), text, { flag: 'a' });
  }

  async #allow(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const file = join(this.#data, 'pg_hba.conf');
    await writeFile(file, [...lines, await readFile(file, 'utf8')].join('\n'));
  }
}

/**
 * A server that is killed leaves a few bytes of shared memory, which only its next start would
 * remove; the kernel has room for some thousands of them.
 */
function removeSharedMemory(folder: string): void {
  try {
    const lines = readFileSync(join(folder, DATA, 'postmaster.pid'), 'utf8');
    const [, id] = /^ *\d+ +(\d+)$/m.exec(lines) ?? [];
    if (id !== undefined) execFileSync('ipcrm', ['-m', id], { stdio: 'ignore' });
  } catch {
    // It ended in order, or never began.
  }
}

async function copyData(program: Command, target: string): Promise<void> {
  await copyTemplate(target, [...program, ...INITDB], async (data) => {
    const initdb = await initdbOf(program, join(dirname(data), 'bin'));
    const env = { ...process.env, LC_ALL: 'C', TZ: 'GMT' };
    await runToEnd([...initdb, ...INITDB, '-D', data], { env });
  });
}

/**
 * initdb starts the `postgres` that lies beside it. If that needs the loader which was fetched with
 * it, the one beside a copy of initdb is a script that starts it so.
 */
async function initdbOf(program: Command, bin: string): Promise<readonly string[]> {
  const initdb = beside(program, 'initdb');
  if (program.length === 1) return initdb;
  const quoted = program.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  await mkdir(bin);
  await writeFile(join(bin, 'postgres'), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  const copy = join(bin, 'initdb');
  await copyFile(initdb.at(-1) as string, copy);
  const share = join(folderOf(program), '../../../../share/postgresql/15');
  return [...initdb.slice(0, -1), copy, '-L', share];
}

export function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  return PostgresServer.start(options);
}
