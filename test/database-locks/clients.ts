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

export const LEVELS = ['read committed', 'repeatable read', 'serializable'] as const;

export type Isolation = (typeof LEVELS)[number];

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

/** A connection of a pool. */
interface Lent {
  readonly tx: SqlTransaction;
  send(sql: string): Promise<unknown>;
  release(): unknown;
}

type Connection = SqlTransaction & { query(sql: string): Promise<unknown>; release(): unknown };

function lent(tx: Connection): Lent {
  return { tx, send: (sql) => tx.query(sql), release: () => tx.release() };
}

/** BEGIN, the work, and COMMIT or ROLLBACK, by hand. */
function byHand(parts: Omit<Client, 'transaction'>, lend: () => Promise<Lent>): Client {
  return {
    ...parts,
    async transaction(work, isolation) {
      const { tx, send, release } = await lend();
      try {
        for (const sql of beginAt(parts.dialect, isolation)) await send(sql);
        const done = await work(tx);
        await send('COMMIT');
        return done;
      } catch (error) {
        // A test may have ended the connection.
        await send('ROLLBACK').catch(() => {});
        throw error;
      } finally {
        await release();
      }
    },
  };
}

function beginAt(dialect: Client['dialect'], isolation: Isolation | undefined): string[] {
  if (!isolation) return ['BEGIN'];
  const level = `ISOLATION LEVEL ${isolation}`;
  return dialect === 'postgres' ? [`BEGIN ${level}`] : [`SET TRANSACTION ${level}`, 'BEGIN'];
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
  return byHand({ dialect: 'postgres', db: pool, close: () => pool.end() }, async () =>
    lent(await pool.connect()),
  );
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
  return byHand({ dialect: 'mysql', db: pool, close: () => pool.end() }, async () =>
    lent(await pool.getConnection()),
  );
}

function ofMysql2Callbacks(url: string): Client {
  const pool = createPool({ uri: url, connectionLimit: CONNECTIONS });
  return byHand({ dialect: 'mysql', db: pool, close: () => pool.promise().end() }, async () => {
    const tx = await promisify(pool.getConnection.bind(pool))();
    return { tx, send: (sql) => tx.promise().query(sql), release: () => tx.release() };
  });
}

function mariadbOptions(url: string): PoolConfig {
  const { hostname: host, port, username: user, pathname } = new URL(url);
  const at = { host, port: Number(port), user, database: pathname.slice(1) };
  return { ...at, connectionLimit: CONNECTIONS, allowPublicKeyRetrieval: true };
}

function ofMariadb(url: string): Client {
  const pool = createMariadbPool(mariadbOptions(url));
  return byHand({ dialect: 'mysql', db: pool, close: () => pool.end() }, async () =>
    lent(await pool.getConnection()),
  );
}

function ofMariadbCallbacks(url: string): Client {
  const pool = mariadbCallbacks.createPool(mariadbOptions(url));
  const close = promisify(pool.end.bind(pool));
  return byHand({ dialect: 'mysql', db: pool, close }, async () => {
    const taken = await promisify(pool.getConnection.bind(pool))();
    const tx = taken as mariadbCallbacks.PoolConnection;
    const send = promisify<string, unknown>(tx.query.bind(tx));
    return { tx, send, release: promisify(tx.release.bind(tx)) };
  });
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

interface DrizzleDatabase {
  transaction<T>(work: Work<T>, config?: { readonly isolationLevel: Isolation }): Promise<T>;
}

function ofDrizzle(
  dialect: Client['dialect'],
  db: DrizzleDatabase & SqlDatabase,
  pool: { end(): Promise<unknown> },
): Client {
  return {
    ...{ dialect, db, close: () => pool.end() },
    transaction: (work, isolation) =>
      db.transaction(work, isolation && { isolationLevel: isolation }),
  };
}

function ofDrizzlePg(url: string): Client {
  const pool = pgPool(url);
  return ofDrizzle('postgres', drizzlePg({ client: pool }), pool);
}

function ofDrizzlePostgres(url: string): Client {
  const sql = postgres(url, { max: CONNECTIONS, onnotice: () => {} });
  return ofDrizzle('postgres', drizzlePostgres({ client: sql }), sql);
}

function ofDrizzleMysql(url: string): Client {
  const pool = createPromisePool({ uri: url, connectionLimit: CONNECTIONS });
  return ofDrizzle('mysql', drizzleMysql({ client: pool }), pool);
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
  return byHand({ dialect: 'postgres', db: wrapped(pool), close: () => pool.end() }, async () => {
    const one = await pool.connect();
    return { tx: wrapped(one), send: (sql) => one.query(sql), release: () => one.release() };
  });
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
