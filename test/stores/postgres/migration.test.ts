/** The tables and functions are made once, whole, and by whoever may. */

import { createLocks } from 'holdfast';
import { once } from 'holdfast/once';
import { migratePostgres, postgresMigration, postgresStore } from 'holdfast/postgres';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrationText } from '../../../src/stores/postgres/open-url.ts';
import { type PostgresServer, startPostgres } from '../../servers/postgres-server.ts';
import { Bed, CLIENTS, claimOf, clientOf, failureOf } from './bed.ts';

const bed = new Bed();
let server: PostgresServer;
beforeAll(async () => {
  server = bed.serve(await startPostgres());
});
afterAll(() => bed[Symbol.asyncDispose]());

async function works(url: string, schema?: string): Promise<void> {
  const options = schema === undefined ? {} : { schema };
  const locks = createLocks(postgresStore(clientOf('pg', url), options));
  await locks.mutex('a').run(() => {});
  await locks.close();
}

/** All that is in a schema, and how it is made. */
async function shape(schema: string): Promise<unknown[]> {
  return server.query(
    `SELECT proname AS name, prosrc AS text, proacl::text AS who FROM pg_proc
       WHERE pronamespace = $1::regnamespace
     UNION ALL SELECT relname, relpersistence::text || relkind::text, relacl::text FROM pg_class
       WHERE relnamespace = $1::regnamespace ORDER BY 1, 2`,
    [schema],
  );
}

describe.each(CLIENTS)('%s', (client) => {
  test('in a schema of any name, again and again, by several at once', async () => {
    const schema = `Some_${client}`;
    const migrate = (): Promise<void> => migratePostgres(clientOf(client, server.url), { schema });
    await Promise.all([1, 2, 3, 4, 5].map(migrate));
    const before = await shape(`"${schema}"`);
    await migrate();
    expect(await shape(`"${schema}"`)).toEqual(before);
    await works(server.url, schema);
  });

  test('nothing is made where it fails in the middle', async () => {
    const schema = `half_${client}`;
    const user = `half_${client}`;
    await server.query(`CREATE ROLE ${user} LOGIN`);
    await server.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${user}`);
    await server.query(`CREATE TABLE ${schema}.grave (other text)`);
    const url = server.urlOf({ user });
    const failure = await failureOf(migratePostgres(clientOf(client, url), { schema }));
    expect(failure).toMatchObject({ code: 'STORE', retryable: false });
    const [row] = await server.query(`SELECT to_regclass('${schema}.store') AS there`);
    expect(row?.there).toBeNull();
  });

  test('held locks outlive it', async () => {
    const schema = `held_${client}`;
    await migratePostgres(clientOf(client, server.url), { schema });
    const locks = createLocks(postgresStore(clientOf(client, server.url), { schema }));
    const lease = await locks.mutex('a').acquire();
    await migratePostgres(clientOf(client, server.url), { schema });
    await lease.renew();
    expect(lease.state).toBe('held');
    await lease.release();
    await locks.close();
  });

  test('tables of a newer version stay as they are', async () => {
    const schema = `newer_${client}`;
    await migratePostgres(clientOf(client, server.url), { schema });
    await server.query(`UPDATE ${schema}.store SET layout = 99`);
    const failure = await failureOf(migratePostgres(clientOf(client, server.url), { schema }));
    expect(failure).toMatchObject({ message: expect.stringMatching(/a newer version/) });
  });
});

test('tables from before there were records keep locks; who wants records is told', async () => {
  const schema = 'before';
  await migratePostgres(clientOf('pg', server.url), { schema });
  await server.query(`DROP TABLE ${schema}.kept`);
  for (const routine of ['keep', 'recall', 'forget']) {
    await server.query(`DROP FUNCTION ${schema}.${routine}`);
  }
  await works(server.url, schema);
  await using locks = createLocks(postgresStore(clientOf('pg', server.url), { schema }));
  const work = (): Promise<unknown> => once(locks, 'work', { keepFor: '1m' }, () => 'done');
  expect(await failureOf(work())).toMatchObject({
    ...{ code: 'STORE', retryable: false },
    message: expect.stringMatching(/holdfast migrate/),
  });
  await migratePostgres(clientOf('pg', server.url), { schema });
  expect(await work()).toMatchObject({ state: 'ran' });
});

test('tables from before the witness told who wrote it', async () => {
  const schema = 'earlier';
  await migratePostgres(clientOf('pg', server.url), { schema });
  await server.query(`ALTER TABLE ${schema}.witness DROP COLUMN written`);
  await migratePostgres(clientOf('pg', server.url), { schema });
  await works(server.url, schema);
});

test('tables from before claims said that they trust keep who holds and who waits', async () => {
  const schema = 'unmarked';
  const migrate = (): Promise<void> => migratePostgres(clientOf('pg', server.url), { schema });
  await migrate();
  const store = postgresStore(clientOf('pg', server.url), { schema });
  const both = [claimOf('a'), claimOf('a')];
  for (const each of both) await store.claim([each]);
  await server.query(`ALTER TABLE ${schema}.claim DROP COLUMN trusts`);
  await migrate();
  expect(await store.renew(both)).toMatchObject([{ state: 'held' }, { state: 'waiting' }]);
  await store.close?.();
});

test('it waits for nobody for long, for everybody would wait behind it', async () => {
  const schema = 'busy';
  await migratePostgres(clientOf('pg', server.url), { schema });
  await server.query(`ALTER TABLE ${schema}.witness DROP COLUMN written`);
  const reader = new Client({ connectionString: server.url });
  await reader.connect();
  await reader.query(`BEGIN; SELECT FROM ${schema}.witness`);
  const failure = await failureOf(migratePostgres(clientOf('pg', server.url), { schema }));
  expect(failure).toMatchObject({ code: 'STORE', retryable: true });
  await reader.end();
  await migratePostgres(clientOf('pg', server.url), { schema });
  await works(server.url, schema);
});

test('a user who is no superuser may do it where he may create a schema', async () => {
  await server.query('CREATE ROLE maker LOGIN');
  await server.query('CREATE DATABASE made OWNER maker');
  const url = server.urlOf({ user: 'maker', database: 'made' });
  await migratePostgres(clientOf('pg', url));
  await works(url);
  await server.query('CREATE ROLE other LOGIN');
  const other = server.urlOf({ user: 'other', database: 'made' });
  const failure = await failureOf(migratePostgres(clientOf('pg', other)));
  expect(failure).toMatchObject({ message: expect.stringMatching(/does not permit/) });
});

test('the text for other tools does the same', async () => {
  await server.query('CREATE DATABASE printed');
  const database = 'printed';
  const url = server.urlOf({ database });
  await server.query(postgresMigration(), [], { database });
  await works(url);
  expect(migrationText('//host/db?schema=Mine')).toBe(postgresMigration({ schema: 'Mine' }));
  // It cannot be told from what the file has under its own name.
  expect(postgresMigration({ schema: 'x' }).replaceAll('"x"', '"holdfast"')).toBe(
    postgresMigration(),
  );
});

test.each(['', '1a', 'a b', 'a"b', "a'b", 'a;b', 'ä', 'a'.repeat(64), 'public.x', null, 7])(
  'a schema cannot be called %j',
  (schema) => {
    const usage = { code: 'USAGE', message: expect.stringMatching(/schema must be/) };
    const codeOf = (make: () => unknown): unknown => {
      try {
        return make();
      } catch (error) {
        return error;
      }
    };
    expect(codeOf(() => postgresMigration({ schema: schema as string }))).toMatchObject(usage);
    const client = clientOf('pg', server.url);
    const options = { schema: schema as string };
    expect(codeOf(() => postgresStore(client, options))).toMatchObject(usage);
  },
);
