/** Every client that locks inside of transactions are made for, behind one way to use them. */
import { promisify } from 'node:util';
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2';
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js';
import type { SqlDatabase, SqlTransaction } from 'holdfast/sql';
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createPool as createMariadbPool, type PoolConfig } from 'mariadb';
import * as mariadbCallbacks from 'mariadb/callback';
import { createPool } from 'mysql2';
import { createPool as createPromisePool } from 'mysql2/promise';
import pg from 'pg';
import postgres from 'postgres';
import { connectionOf, type SqlConnection } from '../../src/clients/sql/connection.ts';

export type Isolation = 'read committed' | 'repeatable read' | 'serializable';

type Work<T> = (tx: SqlTransaction) => Promise<T>;

export interface Client {
  readonly dialect: 'postgres' | 'mysql';
  /** Outside of transactions. */
  readonly db: SqlDatabase;
  /** In a transaction, which is rolled back if the work fails. */
  transaction<T>(work: Work<T>, isolation?: Isolation): Promise<T>;
  close(): Promise<unknown>;
}

export type Open = (url: string) => Client;

/** For statements of the tests' own. */
export function on(client: SqlDatabase): SqlConnection {
  return connectionOf(client);
}

/** Of what the tests sell. */
export async function numberLeft(db: SqlDatabase, id: string): Promise<number> {
  const [row] = await on(db).rows('SELECT n FROM stock WHERE id = ?', [id]);
  return Number(row?.n);
}

/** BEGIN, the work, and COMMIT or ROLLBACK, by hand. */
async function byHand<C extends SqlTransaction & { release(...done: never[]): unknown }, T>(
  connection: C,
  send: (sql: string) => Promise<unknown>,
  { begin, work }: { readonly begin: readonly string[]; readonly work: Work<T> },
): Promise<T> {
  try {
    for (const sql of begin) await send(sql);
    const done = await work(connection);
    await send('COMMIT');
    return done;
  } catch (error) {
    // A test may have ended the connection.
    await send('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    await connection.release();
  }
}

function mysqlBegin(isolation: Isolation | undefined): string[] {
  return [...(isolation ? [`SET TRANSACTION ISOLATION LEVEL ${isolation}`] : []), 'BEGIN'];
}

const CONNECTIONS = 20;

/** Tests end connections, which is no reason for a process to end. */
function pgPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  pool.on('error', () => {});
  return pool.on('connect', (client) => client.on('error', () => {}));
}

function ofPg(url: string): Client {
  const pool = pgPool(url);
  return {
    dialect: 'postgres',
    db: pool,
    transaction: async (work, isolation) => {
      const begin = [`BEGIN${isolation ? ` ISOLATION LEVEL ${isolation}` : ''}`];
      const connection = await pool.connect();
      return byHand(connection, (sql) => connection.query(sql), { begin, work });
    },
    close: () => pool.end(),
  };
}

function ofPostgres(url: string): Client {
  const sql = postgres(url, { max: CONNECTIONS, onnotice: () => {} });
  return {
    dialect: 'postgres',
    db: sql,
    transaction: <T>(work: Work<T>, isolation?: Isolation) =>
      sql.begin(isolation ? `isolation level ${isolation}` : '', work) as Promise<T>,
    close: () => sql.end(),
  };
}

function ofMysql2(url: string): Client {
  const pool = createPromisePool({ uri: url, connectionLimit: CONNECTIONS });
  return {
    dialect: 'mysql',
    db: pool,
    transaction: async (work, isolation) => {
      const connection = await pool.getConnection();
      const begin = mysqlBegin(isolation);
      return byHand(connection, (sql) => connection.query(sql), { begin, work });
    },
    close: () => pool.end(),
  };
}

function ofMysql2Callbacks(url: string): Client {
  const pool = createPool({ uri: url, connectionLimit: CONNECTIONS });
  return {
    dialect: 'mysql',
    db: pool,
    transaction: async (work, isolation) => {
      const connection = await promisify(pool.getConnection.bind(pool))();
      const begin = mysqlBegin(isolation);
      return byHand(connection, (sql) => connection.promise().query(sql), { begin, work });
    },
    close: () => pool.promise().end(),
  };
}

function mariadbOptions(url: string): PoolConfig {
  const { hostname: host, port, username: user, pathname } = new URL(url);
  const at = { host, port: Number(port), user, database: pathname.slice(1) };
  return { ...at, connectionLimit: CONNECTIONS, allowPublicKeyRetrieval: true };
}

function ofMariadb(url: string): Client {
  const pool = createMariadbPool(mariadbOptions(url));
  return {
    dialect: 'mysql',
    db: pool,
    transaction: async (work, isolation) => {
      const connection = await pool.getConnection();
      const begin = mysqlBegin(isolation);
      return byHand(connection, (sql) => connection.query(sql), { begin, work });
    },
    close: () => pool.end(),
  };
}

function ofMariadbCallbacks(url: string): Client {
  const pool = mariadbCallbacks.createPool(mariadbOptions(url));
  return {
    dialect: 'mysql',
    db: pool,
    transaction: async (work, isolation) => {
      const lent = promisify(pool.getConnection.bind(pool))();
      const connection = (await lent) as mariadbCallbacks.PoolConnection;
      const send = promisify<string, unknown>(connection.query.bind(connection));
      return byHand(connection, send, { begin: mysqlBegin(isolation), work });
    },
    close: promisify(pool.end.bind(pool)),
  };
}

function ofKysely(dialect: 'postgres' | 'mysql'): Open {
  return (url) => {
    const db = new Kysely<Record<string, unknown>>({
      dialect:
        dialect === 'postgres'
          ? new PostgresDialect({ pool: pgPool(url) })
          : new MysqlDialect({ pool: createPool({ uri: url, connectionLimit: CONNECTIONS }) }),
    });
    return {
      dialect,
      db,
      transaction: (work, isolation) => {
        const transaction = db.transaction();
        return (isolation ? transaction.setIsolationLevel(isolation) : transaction).execute(work);
      },
      close: () => db.destroy(),
    };
  };
}

function ofDrizzlePg(url: string): Client {
  const pool = pgPool(url);
  const db = drizzlePg({ client: pool });
  return {
    dialect: 'postgres',
    db,
    transaction: (work, isolation) =>
      db.transaction(work, isolation && { isolationLevel: isolation }),
    close: () => pool.end(),
  };
}

function ofDrizzlePostgres(url: string): Client {
  const sql = postgres(url, { max: CONNECTIONS, onnotice: () => {} });
  const db = drizzlePostgres({ client: sql });
  return {
    dialect: 'postgres',
    db,
    transaction: (work, isolation) =>
      db.transaction(work, isolation && { isolationLevel: isolation }),
    close: () => sql.end(),
  };
}

function ofDrizzleMysql(url: string): Client {
  const pool = createPromisePool({ uri: url, connectionLimit: CONNECTIONS });
  const db = drizzleMysql({ client: pool });
  return {
    dialect: 'mysql',
    db,
    transaction: (work, isolation) =>
      db.transaction(work, isolation && { isolationLevel: isolation }),
    close: () => pool.end(),
  };
}

/** What `Prisma` and others would be wrapped in. */
function ofOther(url: string): Client {
  const pool = pgPool(url);
  const wrapped = (client: pg.Pool | pg.PoolClient): SqlTransaction => ({
    dialect: 'postgres',
    transaction: client !== pool,
    rows: async (sql, values) => (await client.query(sql, values)).rows,
    count: async (sql, values) => (await client.query(sql, values)).rowCount ?? 0,
  });
  return {
    dialect: 'postgres',
    db: wrapped(pool),
    transaction: async (work, isolation) => {
      const begin = [`BEGIN${isolation ? ` ISOLATION LEVEL ${isolation}` : ''}`];
      const connection = await pool.connect();
      const other = { ...wrapped(connection), release: () => connection.release() };
      return byHand(other, (sql) => connection.query(sql), { begin, work });
    },
    close: () => pool.end(),
  };
}

export const POSTGRES_CLIENTS: Readonly<Record<string, Open>> = {
  pg: ofPg,
  postgres: ofPostgres,
  'Kysely on pg': ofKysely('postgres'),
  'Drizzle on pg': ofDrizzlePg,
  'Drizzle on postgres': ofDrizzlePostgres,
  'any other, wrapped': ofOther,
};

export const MYSQL_CLIENTS: Readonly<Record<string, Open>> = {
  mysql2: ofMysql2,
  'mysql2 with callbacks': ofMysql2Callbacks,
  mariadb: ofMariadb,
  'mariadb with callbacks': ofMariadbCallbacks,
  'Kysely on mysql2': ofKysely('mysql'),
  'Drizzle on mysql2': ofDrizzleMysql,
};
