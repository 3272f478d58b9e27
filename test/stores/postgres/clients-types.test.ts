/** The clients of both packages fit without a cast. That this compiles is the test. */
import { drizzle } from 'drizzle-orm/node-postgres';
import { type PostgresClient, postgresStore } from 'holdfast/postgres';
import { Client, Pool, type PoolClient } from 'pg';
import postgres from 'postgres';
import { expect, test } from 'vitest';

const sql = postgres({ types: { bigint: postgres.BigInt }, transform: postgres.camel });

const clients: readonly PostgresClient[] = [
  new Pool(),
  new Client(),
  new Client() as PoolClient,
  postgres(),
  sql,
  drizzle(new Pool()),
];

test.each(clients)('%# is a client', (client) => {
  expect(postgresStore(client).name).toBe('postgres');
});

test('what is none does not compile', () => {
  // @ts-expect-error: a URL is for connect().
  expect(() => postgresStore('postgres://localhost')).toThrow();
  // @ts-expect-error: nor are options.
  expect(() => postgresStore({ host: 'localhost' })).toThrow();
  const inside = (tx: postgres.TransactionSql): unknown =>
    // @ts-expect-error: a transaction has no connection of its own.
    postgresStore(tx);
  expect(inside).toBeTypeOf('function');
});
