/** What MySQL and MariaDB have in common as servers for tests. Root is let in from loopback. */
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { HANG_MS } from '../support/this-run.ts';
import { freePort } from './ports.ts';
import { type Command, findProgram, folderOf, type ProgramName } from './programs.ts';
import { LocalServer, runToEnd, started } from './server-process.ts';
import { copyTemplate } from './templates.ts';

export interface MysqlOptions {
  /** Options of its command line, which win over those of every server. */
  readonly config?: readonly string[];
  /** Writes the log that replicas read. Default: false. */
  readonly binlog?: boolean;
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Who connects, and to which database. Default: root, and the database `test`. */
export interface MysqlLogin {
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
}

/** What differs between the two. */
export interface MysqlProduct {
  readonly name: ProgramName & ('mysql' | 'mariadb');
  readonly options: readonly string[];
  readonly binlog: readonly string[];
  /** What makes an empty database `test` and a root without a password in a new data folder. */
  readonly first: readonly string[];
  makeData(command: readonly string[], home: string, data: string): Promise<void>;
  /** The statements with which a replica begins to follow, and ends. */
  follow(host: string, port: number): readonly string[];
  readonly unfollow: readonly string[];
  /** Asks the primary how far it is; the replica waits until it is as far. */
  readonly position: string;
  readonly reach: string;
}

/** What is committed is safe, as by default; it is small, and it asks nobody for names. */
const OPTIONS = [
  ...['--bind-address=127.0.0.1', '--skip-name-resolve', '--character-set-server=utf8mb4'],
  ...['--max-connections=300', '--innodb-flush-log-at-trx-commit=1'],
  '--innodb-buffer-pool-size=64M',
];

export class MysqlServer extends LocalServer {
  readonly #product: MysqlProduct;
  readonly #config: readonly string[];
  readonly #primary: MysqlServer | undefined;
  #readOnly: boolean;

  static async start(product: MysqlProduct, options: MysqlOptions = {}): Promise<MysqlServer> {
    const program = await findProgram(product.name);
    return new MysqlServer(product, program, await freePort(), options).#begin();
  }

  private constructor(
    product: MysqlProduct,
    program: Command,
    port: number,
    { config = [], binlog = false, env, primary }: MysqlOptions & { primary?: MysqlServer },
  ) {
    super({ name: product.name, program, ports: [port], env, refusesRoot: true });
    this.#product = product;
    const log = binlog ? [...product.binlog, `--server-id=${port}`] : [];
    this.#config = [...log, ...config];
    this.#primary = primary;
    this.#readOnly = primary !== undefined;
  }

  override get url(): string {
    return this.urlOf();
  }

  urlOf({ user = 'root', password, database = 'test' }: MysqlLogin = {}): string {
    const names = [user, ...(password === undefined ? [] : [password])].map(encodeURIComponent);
    const where = `${this.host}:${this.port}/${encodeURIComponent(database)}`;
    return `${this.#product.name}://${names.join(':')}@${where}`;
  }

  protected get args(): string[] {
    const { folder } = this;
    return [
      ...optionsOf(this.#product, this.program),
      ...OPTIONS,
      `--datadir=${this.#data}`,
      `--port=${this.port}`,
      `--socket=${this.#socket}`,
      `--pid-file=${join(folder, 'pid')}`,
      `--tmpdir=${folder}`,
      ...(this.#readOnly ? ['--read-only'] : []),
      ...this.#config,
    ];
  }

  protected answers(): Promise<boolean> {
    return this.query('select 1').then(() => true);
  }

  /** As root, over a connection of its own, past every proxy and port: the rows, if there are. */
  async query<Row extends object = Record<string, unknown>>(
    sql: string,
    values: readonly unknown[] = [],
    { user = 'root', password, database = 'test' }: MysqlLogin = {},
  ): Promise<Row[]> {
    const connection = await createConnection({
      socketPath: this.#socket,
      user,
      ...(password !== undefined && { password }),
      database,
      connectTimeout: HANG_MS,
      multipleStatements: true,
    });
    connection.on('error', () => {});
    try {
      const [rows] = await connection.query({ sql, timeout: HANG_MS }, [...values]);
      await connection.end();
      return Array.isArray(rows) ? (rows as Row[]) : [];
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  /**
   * A read-only copy that follows this server, which has to have a binlog, and does not wait. It
   * finds its primary at the port `via`, such as that of a proxy; default: the primary's own.
   */
  async replica({ via = this.port }: { readonly via?: number } = {}): Promise<MysqlServer> {
    const options = { binlog: true, primary: this };
    const made = new MysqlServer(this.#product, this.program, await freePort(), options);
    const replica = await made.#begin();
    const statements = this.#product.follow(this.host, via);
    return started(replica, () => replica.#run(statements));
  }

  /** Waits until this replica shows all that its primary has committed so far. */
  async inStep(): Promise<void> {
    if (this.#primary === undefined) throw new Error('the server is no replica');
    const [row] = await this.#primary.query<{ written: string }>(this.#product.position);
    const [answer] = await this.query<{ missed: number }>(this.#product.reach, [row?.written]);
    if (answer?.missed !== 0) throw new Error('never was the replica in step');
  }

  /** Makes this replica a primary. What it has not received of the old one is lost to it. */
  async promote(): Promise<void> {
    await this.#run([...this.#product.unfollow, 'set global read_only = 0']);
    this.#readOnly = false;
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  get #socket(): string {
    return join(this.folder, 'socket');
  }

  #begin(): Promise<this> {
    return started(this, async () => {
      const options = optionsOf(this.#product, this.program);
      const recipe = [...this.program, ...options, ...this.#product.first];
      await copyTemplate(this.#data, recipe, (data) => newData(this.#product, this.program, data));
      await this.start();
    });
  }

  async #run(statements: readonly string[]): Promise<void> {
    for (const statement of statements) await this.query(statement);
  }
}

function optionsOf(product: MysqlProduct, program: Command): readonly string[] {
  return ['--no-defaults', `--basedir=${dirname(folderOf(program))}`, ...product.options];
}

/** Temporary tables are beside it: a MariaDB that begins removes all that it finds in its place. */
export function newData(product: MysqlProduct, program: Command, data: string): Promise<void> {
  const command = [...program, ...optionsOf(product, program), `--tmpdir=${dirname(data)}`];
  return product.makeData(command, dirname(folderOf(program)), data);
}

const ROOT = [
  'create database test;',
  "create user root@'127.0.0.1';",
  "grant all on *.* to root@'127.0.0.1' with grant option;",
];

export const MYSQL: MysqlProduct = {
  name: 'mysql',
  options: [
    '--mysqlx=OFF',
    '--innodb-redo-log-capacity=32M',
    '--skip-log-bin',
    '--secure-file-priv=NULL',
  ],
  first: ROOT,
  binlog: ['--log-bin=binlog', '--gtid-mode=ON', '--enforce-gtid-consistency'],
  makeData: async (command, _home, data) => {
    const file = `${data}.sql`;
    await writeFile(file, `${ROOT.join('\n')}\n`);
    await runToEnd([
      ...command,
      '--initialize-insecure',
      `--init-file=${file}`,
      `--datadir=${data}`,
    ]);
    // It holds what tells a server from its replicas.
    await rm(join(data, 'auto.cnf'));
  },
  follow: (host, port) => [
    `change replication source to source_host = '${host}', source_port = ${port},
      source_user = 'root', source_auto_position = 1, source_connect_retry = 1,
      get_source_public_key = 1`,
    'start replica',
  ],
  unfollow: ['stop replica', 'reset replica all'],
  position: 'select @@global.gtid_executed as written',
  reach: 'select wait_for_executed_gtid_set(?, 20) as missed',
};

export function startMysql(options: MysqlOptions = {}): Promise<MysqlServer> {
  return MysqlServer.start(MYSQL, options);
}
