/** A database with one of the tables, and a pool of connections to it. */
import type { Store } from 'holdfast';
import type { SqlDatabase } from 'holdfast/shedlock';
import { createPool as mariadbPool } from 'mariadb';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import postgres from 'postgres';
import type { Dialect } from '../../../src/clients/sql/sql.ts';
import { startMariadb } from '../../servers/mariadb-server.ts';
import { startMysql } from '../../servers/mysql-server.ts';
import { startPostgres } from '../../servers/postgres-server.ts';
import { documentConformance } from '../../stores/document/conformance.ts';

interface Pool {
  readonly db: SqlDatabase;
  send(text: string): Promise<unknown>;
  end(): Promise<unknown>;
}

export interface Ground extends Pool {
  /** Of its server. */
  readonly url: string;
  close(): Promise<void>;
}

interface Database {
  readonly dialect: Dialect;
  start(): Promise<{ readonly url: string; close(): Promise<unknown> }>;
  pool(url: string): Pool;
}

function viaPg(url: string): Pool {
  const pool = new pg.Pool({ connectionString: url, max: 20 }).on('error', () => {});
  return { db: pool, send: (text) => pool.query(text), end: () => pool.end() };
}

function viaMysql2(url: string): Pool {
  const pool = createPool({ uri: url.replace('mariadb:', 'mysql:'), connectionLimit: 20 });
  return { db: pool, send: (text) => pool.query(text), end: () => pool.end() };
}

export const POSTGRES: Database = {
  dialect: 'postgres',
  start: () => startPostgres(),
  pool: viaPg,
};

export const MARIADB: Database = { dialect: 'mysql', start: () => startMariadb(), pool: viaMysql2 };

export const MYSQL: Database = { ...MARIADB, start: () => startMysql() };

/** Each product, and each client. */
export const DATABASES: readonly (readonly [name: string, database: Database])[] = [
  ['PostgreSQL with pg', POSTGRES],
  [
    'PostgreSQL with postgres',
    {
      ...POSTGRES,
      pool(url) {
        const sql = postgres(url, { max: 20, onnotice: () => {} });
        return { db: sql, send: (text) => sql.unsafe(text), end: () => sql.end() };
      },
    },
  ],
  ['MariaDB with mysql2', MARIADB],
  [
    'MariaDB with mariadb',
    {
      ...MARIADB,
      pool(url) {
        const pool = mariadbPool(`${url}?connectionLimit=20`);
        return { db: pool, send: (text) => pool.query(text), end: () => pool.end() };
      },
    },
  ],
  ['MySQL with mysql2', MYSQL],
];

export async function ground({ start, pool }: Database, table: string): Promise<Ground> {
  const server = await start();
  const made = pool(server.url);
  await made.send(table);
  const { url } = server;
  const close = (): Promise<void> => made.end().then(async () => void (await server.close()));
  return { ...made, url, close };
}

export interface RowSuite {
  readonly table: Readonly<Record<Dialect, string>>;
  open(db: SqlDatabase): Store;
  readonly slackMs: number;
  /** All topics, not only those that depend on the database. */
  readonly whole: boolean;
}

/** The conformance suite on one of the tables; without a queue, much of it is not promised. */
export function rowSuite(database: Database, { table, open, slackMs, whole }: RowSuite): void {
  const unused = viaPg('postgres://unused');
  documentConformance({
    why: undefined,
    start: () => ground(database, table[database.dialect]),
    store: ({ db }) => open(db),
    traits: open(unused.db).traits,
    lacks: ['watch', 'downgrade', 'raise', 'evict', 'list', 'keep', 'recall', 'handOver'],
    anonymous: true,
    slackMs,
    whole,
  });
}
