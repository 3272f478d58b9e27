/** The servers, and a table of things to sell on each. */
import assert from 'node:assert/strict';
import type { SqlTransaction } from 'holdfast/sql';
import { afterAll, beforeAll } from 'vitest';
import { startMariadb } from '../servers/mariadb-server.ts';
import { startMysql } from '../servers/mysql-server.ts';
import { startPostgres } from '../servers/postgres-server.ts';
import { gate } from '../support/gate.ts';
import { type Client, MYSQL_CLIENTS, type Open, on, POSTGRES_CLIENTS } from './clients.ts';

export type Server = { readonly url: string; close(): Promise<void> };

export interface Product {
  readonly name: string;
  readonly dialect: Client['dialect'];
  start(options?: { readonly config?: readonly string[] }): Promise<Server>;
  readonly clients: Readonly<Record<string, Open>>;
  /** The first of them. */
  readonly plain: Open;
}

const [PG] = Object.values(POSTGRES_CLIENTS) as [Open];
const [MYSQL2] = Object.values(MYSQL_CLIENTS) as [Open];
const POSTGRES = { dialect: 'postgres', clients: POSTGRES_CLIENTS, plain: PG } as const;
const MYSQL = { dialect: 'mysql', clients: MYSQL_CLIENTS, plain: MYSQL2 } as const;

export const PRODUCTS: readonly Product[] = [
  { name: 'PostgreSQL', start: startPostgres, ...POSTGRES },
  { name: 'MariaDB', start: startMariadb, ...MYSQL },
  { name: 'MySQL', start: startMysql, ...MYSQL },
];

/** `stock`: ten of each, and a version that no double has. */
export async function makeStock({ db, dialect }: Client): Promise<void> {
  await on(db).count('DROP TABLE IF EXISTS stock');
  await on(db).count(`CREATE TABLE stock (
  id varchar(200) PRIMARY KEY, n integer NOT NULL DEFAULT 10, state integer NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 9007199254740993, seller varchar(200), picture ${BYTES[dialect]},
  made ${TIME[dialect]} NOT NULL DEFAULT '2026-01-01 10:00:00')${OPTIONS[dialect]}`);
}

const OPTIONS = { postgres: '', mysql: ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' } as const;
const TIME = { postgres: 'timestamptz', mysql: 'datetime(6)' } as const;
const BYTES = { postgres: 'bytea', mysql: 'varbinary(1000)' } as const;

export interface UsedServer {
  readonly dialect: Client['dialect'];
  /** Before the first test it is empty. */
  readonly url: string;
}

/** One for all tests of the file, made before the first of them. */
export function useServer(
  { dialect, start, plain }: Product,
  config: readonly string[] = [],
): UsedServer {
  const bed = { dialect, url: '' };
  let server: Server | undefined;
  beforeAll(async () => {
    server = await start({ config });
    bed.url = server.url;
    const client = plain(server.url);
    await makeStock(client);
    await client.close();
  });
  afterAll(() => server?.close());
  return bed;
}

/** A client for all tests of the group, opened before the first of them. */
export function useClient(
  open: (url: string) => Client | Promise<Client>,
  server: UsedServer,
): Client {
  let client: Client | undefined;
  const opened = (): Client => client ?? assert.fail('it is opened before the first test');
  beforeAll(async () => {
    client = await open(server.url);
  });
  afterAll(() => client?.close());
  return {
    dialect: server.dialect,
    get db() {
      return opened().db;
    },
    transaction: (work, isolation) => opened().transaction(work, isolation),
    close: () => opened().close(),
  };
}

/** Begins a transaction that stands still after this work, until it is released. */
export async function standing(
  client: Client,
  work: (tx: SqlTransaction) => Promise<unknown>,
): Promise<{ release(): Promise<void> }> {
  const [has, end] = [gate(), gate()];
  const done = client.transaction(async (tx) => {
    await work(tx);
    has.open();
    await end.opened;
  });
  await Promise.race([has.opened, done]);
  return {
    async release() {
      end.open();
      await done;
    },
  };
}

/** What a promise comes to within a while, in ms; or that it still waits. */
export function soon<T>(promise: Promise<T>, ms = 300): Promise<T | 'waits'> {
  const wait = new Promise<'waits'>((resolve) => setTimeout(() => resolve('waits'), ms));
  return Promise.race([promise, wait]);
}
