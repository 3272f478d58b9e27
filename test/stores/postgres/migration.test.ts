/** The tables are made once, whole, and by whoever may. */
import { createLocks } from 'holdfast';
import { migratePostgres, postgresMigration, postgresStore } from 'holdfast/postgres';
import { describe, expect, test } from 'vitest';
import { migrationText } from '../../../src/stores/postgres/open-url.ts';
import { CLIENTS, clientOf, sharedServer } from './bed.ts';

const { server } = await sharedServer();

async function works(url: string, schema?: string): Promise<void> {
  const options = schema === undefined ? {} : { schema };
  const locks = createLocks(postgresStore(clientOf('pg', url), options));
  await locks.mutex('a').run(() => {});
  await locks.close();
}

/** All that is in a schema, and how it is made. */
async function shape(schema: string): Promise<unknown[]> {
  return server.query(
    `SELECT relname AS name, relpersistence::text || relkind::text AS kind, relacl::text AS who
     FROM pg_class WHERE relnamespace = $1::regnamespace ORDER BY 1, 2`,
    [schema],
  );
}

describe.each(CLIENTS)('%s', (client) => {
  const migrate = (schema: string, url: string = server.url): Promise<void> =>
    migratePostgres(clientOf(client, url), { schema });

  test('in a schema of any name, again and again, by several at once', async () => {
    const schema = `Some_${client}`;
    await Promise.all([1, 2, 3, 4, 5].map(() => migrate(schema)));
    const before = await shape(`"${schema}"`);
    await migrate(schema);
    expect(await shape(`"${schema}"`)).toEqual(before);
    await works(server.url, schema);
  });

  test('nothing is made where it fails in the middle', async () => {
    const [schema, user] = [`half_${client}`, `half_${client}`];
    await server.query(`CREATE ROLE ${user} LOGIN`);
    await server.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${user}`);
    await server.query(`CREATE TABLE ${schema}.kept (other text)`);
    const failing = migrate(schema, server.urlOf({ user }));
    await expect(failing).rejects.toMatchObject({ code: 'STORE', retryable: false });
    const [row] = await server.query(`SELECT to_regclass('${schema}.store') AS there`);
    expect(row?.there).toBeNull();
  });

  test('tables of others with the same names are left alone', async () => {
    const schema = `shop_${client}`;
    await server.query(
      `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.store (id serial, name text)`,
    );
    await server.query(`CREATE VIEW ${schema}.lock AS SELECT 1 AS key`);
    const message = expect.stringContaining(`Holdfast's: "${schema}".store, "${schema}".lock.`);
    const refused = { code: 'STORE', retryable: false, message };
    await expect(migrate(schema)).rejects.toMatchObject(refused);
    expect(await shape(schema)).toHaveLength(3);
  });

  test('held locks outlive it', async () => {
    const schema = `held_${client}`;
    await migrate(schema);
    const locks = createLocks(postgresStore(clientOf(client, server.url), { schema }));
    const lease = await locks.mutex('a').acquire();
    await migrate(schema);
    await lease.renew();
    expect(lease.state).toBe('held');
    await lease.release();
    await locks.close();
  });

  test('tables of a newer version stay as they are', async () => {
    const schema = `newer_${client}`;
    await migrate(schema);
    await server.query(`UPDATE ${schema}.store SET layout = 99`);
    await expect(migrate(schema)).rejects.toThrow(/a newer version/);
  });
});

test('a user who is no superuser may do it where he may create a schema', async () => {
  await server.query('CREATE ROLE maker LOGIN');
  await server.query('CREATE DATABASE made OWNER maker');
  const url = server.urlOf({ user: 'maker', database: 'made' });
  await migratePostgres(clientOf('pg', url));
  await works(url);
  await server.query('CREATE ROLE other LOGIN');
  const other = server.urlOf({ user: 'other', database: 'made' });
  await expect(migratePostgres(clientOf('pg', other))).rejects.toThrow(/does not permit/);
});

test('the text for other tools does the same', async () => {
  await server.query('CREATE DATABASE printed');
  const database = 'printed';
  const url = server.urlOf({ database });
  await server.query(postgresMigration(), [], { database });
  await works(url);
  expect(migrationText('postgres', '//host/db?schema=Mine')).toBe(
    postgresMigration({ schema: 'Mine' }),
  );
  // It cannot be told from what the file has under its own name.
  expect(postgresMigration({ schema: 'x' }).replaceAll('"x"', '"holdfast"')).toBe(
    postgresMigration(),
  );
});

test.each(['', '1a', 'a b', 'a"b', "a'b", 'a;b', 'ä', 'a'.repeat(64), 'public.x', null, 7])(
  'a schema cannot be called %j',
  (schema) => {
    const message = expect.stringMatching(/schema must be/);
    const usage = expect.objectContaining({ code: 'USAGE', message });
    const options = { schema: schema as string };
    expect(() => postgresMigration(options)).toThrow(usage);
    expect(() => postgresStore(clientOf('pg', server.url), options)).toThrow(usage);
  },
);
