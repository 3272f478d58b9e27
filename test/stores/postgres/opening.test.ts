/** What a server must be good for before anything is claimed on it. */
import { migratePostgres } from 'holdfast/postgres';
import { describe, expect, test } from 'vitest';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import type { PostgresServer } from '../../servers/postgres-server.ts';
import { until } from '../../support/until.ts';
import { Bed, CLIENTS, claimOf, clientOf, failureOf, sharedServer } from './bed.ts';

const { bed, server } = await sharedServer();

const REFUSED = { code: 'STORE', retryable: false, outcome: 'failed' };

describe.each(CLIENTS)('%s: is refused with advice', (client) => {
  const refusal = (url: string, options = {}): Promise<unknown> =>
    failureOf(bed.store({ url }, { client, ...options }).claim([claimOf('a')]));
  const says = (text: RegExp): object => ({ ...REFUSED, message: expect.stringMatching(text) });

  test('a database without the tables, or a schema without them', async () => {
    await server.query(`CREATE DATABASE empty_${client}`);
    const empty = server.urlOf({ database: `empty_${client}` });
    expect(await refusal(empty)).toMatchObject(says(/npx holdfast migrate --store/));
    const other = { schema: 'nobody' };
    expect(await refusal(server.url, other)).toMatchObject(says(/npx holdfast migrate --store/));
  });

  test.each([
    ['older', 0, /older ones.*holdfast migrate --store/],
    ['newer', 3, /newer; install/],
  ])('tables of an %s layout', async (_, layout, advice) => {
    const schema = `layout_${layout}_${client}`;
    await migratePostgres(clientOf(client, server.url), { schema });
    await server.query(`UPDATE ${schema}.store SET layout = ${layout}`);
    expect(await refusal(server.url, { schema })).toMatchObject(says(advice));
  });

  test('another encoding than Unicode', async () => {
    const database = `latin_${client}`;
    const like = "TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'";
    await server.query(`CREATE DATABASE ${database} ${like}`);
    expect(await refusal(server.urlOf({ database }))).toMatchObject(says(/encoding is LATIN1/));
  });

  test('a user who may not use the schema, and one whom nobody knows', async () => {
    const user = `nobody_${client}`;
    await server.query(`CREATE ROLE ${user} LOGIN`);
    expect(await refusal(server.urlOf({ user }))).toMatchObject(says(/docs\/stores\/postgres\.md/));
    expect(await refusal(server.urlOf({ user: 'x' }))).toMatchObject(
      says(/does not let this user/),
    );
    const database = 'y';
    expect(await refusal(server.urlOf({ database }))).toMatchObject(says(/no such database/));
  });

  test('a session that is read-only, for the time being', async () => {
    const user = `reader_${client}`;
    await server.query(`CREATE ROLE ${user} LOGIN SUPERUSER`);
    await server.query(`ALTER ROLE ${user} SET default_transaction_read_only = on`);
    const store = bed.store({ url: server.urlOf({ user }) }, { client });
    const later = { ...REFUSED, retryable: true, message: expect.stringMatching(/read-only/) };
    expect(await failureOf(store.claim([claimOf('a')]))).toMatchObject(later);
    await server.query(`ALTER ROLE ${user} RESET default_transaction_read_only`);
    await until('asked', async () => (await store.inspect('a')).holders.length === 0);
  });
});

test('a server that becomes read-only in the middle is left, and found again', async () => {
  const [user, schema] = ['changing', 'changing'];
  await server.query(`CREATE ROLE ${user} LOGIN SUPERUSER`);
  const url = server.urlOf({ user });
  await migratePostgres(clientOf('pg', url), { schema });
  const store = bed.store({ url }, { schema });
  const claim = claimOf('a');
  await store.claim([claim]);
  // As on a primary that becomes a standby.
  await server.query(`CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE 'read-only' USING ERRCODE = 'read_only_sql_transaction'; END $$`);
  await server.query(`CREATE TRIGGER refuse BEFORE UPDATE ON ${schema}.lock
    EXECUTE FUNCTION ${schema}.refuse()`);
  const later = {
    ...REFUSED,
    retryable: true,
    message: expect.stringMatching(/accepts no writes/),
  };
  expect(await failureOf(store.renew([claim]))).toMatchObject(later);
  await server.query(`DROP TRIGGER refuse ON ${schema}.lock`);
  expect(await store.renew([claim])).toMatchObject([{ state: 'held' }]);
});

describe('warnings before the first grant', () => {
  const codesOf = async (at: PostgresServer, options = {}): Promise<string[]> => {
    const warnings = hearWarnings();
    const store = bed.store(at, options);
    const watching = await store.watch?.(claimOf('a'), () => {});
    await store.inspect('a');
    await watching?.[Symbol.asyncDispose]();
    // Warnings come with the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    warnings.close();
    return warnings.codes;
  };

  test('none, where all is well', async () => {
    expect(await codesOf(server)).toEqual([]);
  });

  test('fsync and synchronous_commit are off: each is said once', async () => {
    const config = ['fsync = off', 'synchronous_commit = off'];
    const careless = await bed.server({ config });
    expect((await codesOf(careless)).sort()).toEqual([
      ...['HOLDFAST_ASYNC_COMMIT', 'HOLDFAST_NO_FSYNC'],
    ]);
    expect(await codesOf(careless, { durability: 'fast' })).toEqual(['HOLDFAST_NO_FSYNC']);
  });

  test('a standby that the primary does not wait for', async () => {
    await using own = new Bed();
    const primary = await own.server();
    own.serve(await primary.standby());
    await until('followed', async () => {
      const rows = await primary.query('SELECT FROM pg_stat_replication');
      return rows.length === 1;
    });
    expect(await codesOf(primary)).toEqual(['HOLDFAST_SPLIT_PRIMARY']);
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.query('SELECT pg_reload_conf()');
    await until('reloaded', async () => {
      const [row] = await primary.query('SHOW synchronous_standby_names');
      return row?.synchronous_standby_names === '*';
    });
    expect(await codesOf(primary)).toEqual([]);
    // Of the database, of the user or of the server: it is what the session has that counts.
    await primary.query('ALTER DATABASE postgres SET synchronous_commit = local');
    expect(await codesOf(primary)).toEqual(['HOLDFAST_SPLIT_PRIMARY']);
    await primary.query('ALTER DATABASE postgres RESET synchronous_commit');
    expect(await codesOf(primary)).toEqual([]);
    expect(await codesOf(primary, { durability: 'fast' })).toEqual(['HOLDFAST_SPLIT_PRIMARY']);
  });
});
