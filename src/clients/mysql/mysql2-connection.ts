/**
 * Connections of `mysql2`, version 3.
 *
 * Each is made like those of the user's pool or connection: the same address, TLS, user and
 * password, but one statement at a time, and Unicode. The promise flavour wraps the one with
 * callbacks, which shows its settings, and whose own constructor makes the new one.
 */
import { first } from '../abortable.ts';
import { asked, hangUp, type SqlCallback } from '../sql/session.ts';
import { AS_TEXT, bytesOf, type ConnectMysql, rowsIn } from './connection.ts';

/** As much of a `Pool` or `Connection` of either flavour as identifies it. */
export interface Mysql2Client {
  query(...args: never[]): unknown;
  execute(...args: never[]): unknown;
  format(...args: never[]): string;
}

type Mysql2Config = Readonly<Record<string, unknown>>;

interface Mysql2Socket {
  once(event: 'close', listener: () => void): unknown;
  unref?(): unknown;
  destroy(): unknown;
}

interface Mysql2Session {
  readonly stream: Mysql2Socket;
  query(query: object, done: SqlCallback<unknown>): unknown;
  execute(query: object, done: SqlCallback<unknown>): unknown;
  on(event: 'error' | 'connect', listener: (said: unknown) => void): unknown;
  end(): unknown;
  destroy(): unknown;
}

interface Pool {
  getConnection(done: SqlCallback<Mysql2Session>): unknown;
  end(done: () => void): unknown;
}

interface Core {
  readonly config: Mysql2Config & { readonly connectionConfig?: Mysql2Config };
  readonly constructor: unknown;
  readonly _pool?: Core;
  readonly _closed?: boolean;
  readonly _closing?: boolean;
}

/** Statements after a semicolon: what the store sends has no text of anybody's that could end. */
const MULTI_STATEMENTS = 0x1_00_00;
/** Rows count that a statement met, also where it changed nothing. Sequelize switches that off. */
const FOUND_ROWS = 2;

/** `utf8mb4_unicode_ci`, which has the same number in MySQL and MariaDB. */
const UTF8MB4 = 224;

/** The object with the settings. */
export function coreOf(client: object): Core | undefined {
  const { pool, connection } = client as { readonly pool?: object; readonly connection?: object };
  const inner = (pool ?? connection ?? client) as Partial<Core>;
  const core = inner._pool ?? inner;
  return typeof core.config === 'object' && core.config !== null ? (core as Core) : undefined;
}

export function mysql2Connect(core: Core): ConnectMysql {
  return async ({ signal, lost }) => {
    const { connectionConfig } = core.config;
    const { session, end } = await (connectionConfig
      ? throughPool(core, connectionConfig, signal)
      : alone(core, signal));
    session.on('error', lost);
    session.stream.once('close', () => lost(new Error('Connection lost')));
    return {
      query: (sql) => asked((done) => session.query({ sql, ...AS_TEXT }, done)).map(rowsIn),
      execute(sql, values) {
        const query = { sql, values: bytesOf(values), ...AS_TEXT };
        return asked((done) => session.execute(query, done)).map(rowsIn);
      },
      unref: () => void session.stream.unref?.(),
      end: () => hangUp(session, end),
    };
  };
}

/** A pool does not show how it makes a connection, so this makes a pool of one. */
async function throughPool(core: Core, config: Mysql2Config, signal: AbortSignal) {
  const own = {
    ...core.config,
    connectionConfig: ownConfig(config),
    connectionLimit: 1,
    maxIdle: 1,
  };
  const pool = new (core.constructor as new (options: object) => Pool)({ config: own });
  const opening = asked<Mysql2Session>((done) => pool.getConnection(done));
  const end = (): void => void pool.end(() => {});
  return { session: await first({ end }, signal, () => opening), end };
}

async function alone(core: Core, signal: AbortSignal) {
  const Session = core.constructor as new (options: object) => Mysql2Session;
  const session = new Session({ config: ownConfig(core.config) });
  const opening = new Promise<Mysql2Session>((resolve, reject) => {
    session.on('connect', () => resolve(session));
    session.on('error', reject);
  });
  const end = (): void => void session.destroy();
  await first({ end }, signal, () => opening);
  return { session, end: () => void session.end() };
}

function ownConfig(config: Mysql2Config): object {
  const copy = Object.create(
    Object.getPrototypeOf(config),
    Object.getOwnPropertyDescriptors(config),
  ) as object;
  return Object.assign(copy, {
    multipleStatements: true,
    charsetNumber: UTF8MB4,
    namedPlaceholders: false,
    clientFlags: Number(config.clientFlags) | MULTI_STATEMENTS | FOUND_ROWS,
    enableKeepAlive: true,
    pool: undefined,
  });
}
