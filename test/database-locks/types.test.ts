/** What is in no transaction does not even compile. What is in one does: clients.ts, here. */
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2';
import { drizzle } from 'drizzle-orm/node-postgres';
import { type Row, rowLock } from 'holdfast/sql';
import { Kysely, PostgresDialect } from 'kysely';
import { createPool as createMariadbPool } from 'mariadb';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import postgres from 'postgres';
import { expect, expectTypeOf, test } from 'vitest';

test('pools and databases are refused by their types', async () => {
  const options = { table: 'a', key: { id: 1 } };
  const refused = /not a pool/;
  const pool = new pg.Pool();
  const mysql = createPool({});
  const mariadb = createMariadbPool({ minimumIdle: 0, connectionLimit: 1 });
  // @ts-expect-error: a pool.
  expect(() => rowLock(pool, options)).toThrow(refused);
  // @ts-expect-error: a pool.
  expect(() => rowLock(postgres(), options)).toThrow(refused);
  // The types of mysql2 call it a connection.
  expect(() => rowLock(mysql, options)).toThrow(refused);
  // @ts-expect-error: a pool.
  expect(() => rowLock(mariadb, options)).toThrow(refused);
  const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
  // @ts-expect-error: a database.
  expect(() => rowLock(kysely, options)).toThrow(refused);
  // @ts-expect-error: a database.
  expect(() => rowLock(drizzle({ client: pool }), options)).toThrow(refused);
  // @ts-expect-error: a database.
  expect(() => rowLock(drizzleMysql({ client: mysql }), options)).toThrow(refused);
  // @ts-expect-error: a promise.
  expect(() => rowLock(Promise.resolve(), options)).toThrow(/promise: await it/);
  await mariadb.end();
});

test('only who skips may get no row', () => {
  const tx = {} as pg.PoolClient;
  const lock = (wait: 'skip') => rowLock<{ n: number }>(tx, { table: 'a', key: { id: 1 }, wait });
  expectTypeOf(lock).returns.resolves.toEqualTypeOf<{ n: number } | null>();
  const block = () => rowLock(tx, { table: 'a', key: { id: 1 } });
  expectTypeOf(block).returns.resolves.toEqualTypeOf<Row>();
});
