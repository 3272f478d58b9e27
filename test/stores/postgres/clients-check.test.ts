/** What is no client, or none that could be used, is refused before anything is sent. */
import { createPool } from 'mysql2/promise';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { connectLike, type PostgresClient } from '../../../src/clients/postgres/client.ts';
import { usageErrorOf } from '../../support/failures.ts';
import { sharedServer } from './bed.ts';

const { bed, server } = await sharedServer();
const pool = new Pool({ connectionString: server.url });
const sql = postgres(server.url);
for (const each of [pool, sql]) bed.use({ close: () => each.end() });

const CANARY = 'canary-5up3r-s3cr3t';

const refusal = (client: unknown): string =>
  usageErrorOf(() => connectLike(client as PostgresClient), CANARY);

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a number', 5432],
  ['an empty object', {}],
  ['the class', Pool],
  ['the function of the package', postgres],
  ['the options of a client', { host: 'localhost', password: CANARY }],
  ['a pool of another database', createPool({ host: '127.0.0.1', password: CANARY })],
  ['a promise of a client', Promise.resolve(pool)],
  ['a query', sql`SELECT 1`],
])('%s is no client', (_, value) => {
  const message = refusal(value);
  expect(message).toMatch(/PostgreSQL client was expected: .*Pool or Client of pg/);
  expect(message).toMatch(/Kysely, Drizzle or Prisma/);
});

test('a URL is refused without being repeated, and leads to connect()', () => {
  expect(refusal(`postgres://me:${CANARY}@localhost`)).toMatch(/connect\(\) of holdfast\/connect/);
});

test('pg: neither what has ended, nor a client in a transaction', async () => {
  const ended = new Pool({ connectionString: server.url, password: CANARY });
  connectLike(ended);
  await ended.end();
  expect(refusal(ended)).toMatch(/has ended/);
  const client = new Client({ connectionString: server.url });
  connectLike(client);
  await client.connect();
  connectLike(client);
  await client.query('BEGIN');
  expect(refusal(client)).toMatch(/in a transaction/);
  await client.query('SELECT nonsense').catch(() => {});
  expect(refusal(client)).toMatch(/in a transaction/);
  await client.query('ROLLBACK');
  connectLike(client);
  await client.end();
  expect(refusal(client)).toMatch(/has ended/);
});

test('pg-native, of which there can be no second connection like it', () => {
  class Native {
    connect(): void {}
    query(): void {}
    end(): void {}
    readonly connectionParameters = { password: CANARY };
  }
  expect(refusal(new Native())).toMatch(/pg-native/);
  expect(refusal(new Pool({ Client: Native as never }))).toMatch(/pg-native/);
});

test('postgres: neither a transaction nor a reserved connection', async () => {
  connectLike(sql);
  await sql.begin(async (tx) => {
    expect(refusal(tx)).toMatch(/in a transaction/);
  });
  const reserved = await sql.reserve();
  expect(refusal(reserved)).toMatch(/reserved connection/);
  reserved.release();
});
