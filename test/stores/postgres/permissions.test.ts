/** The user of the page may do what is needed, and nothing else. */

import { readFileSync } from 'node:fs';
import { createLocks } from 'holdfast';
import { once } from 'holdfast/once';
import { postgresStore } from 'holdfast/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PostgresServer } from '../../servers/postgres-server.ts';
import { Bed, CLIENTS, claimOf, clientOf, failureOf } from './bed.ts';

const page = readFileSync('docs/stores/postgres.md', 'utf8');
const [, grants = ''] = /^```sql\n(CREATE ROLE locks[\s\S]*?)^```$/m.exec(page) ?? [];

const LOGIN = { user: 'locks', password: 'secret' };

const bed = new Bed();
let server: PostgresServer;
beforeAll(async () => {
  server = await bed.server({ hba: ['host all locks 127.0.0.1/32 scram-sha-256'] });
  await server.query(grants);
});
afterAll(() => bed[Symbol.asyncDispose]());

test.each(CLIENTS)('%s: all verbs', async (client) => {
  const name = `a ${client}`;
  const store = bed.store({ url: server.urlOf(LOGIN) }, { client });
  const locks = createLocks(store);
  const lease = await locks.mutex(name).acquire();
  const next = locks.mutex(name, { fair: true }).acquire();
  await lease.renew();
  const names: string[] = [];
  for await (const each of locks.list(name)) names.push(each);
  expect(names).toEqual([name]);
  await lease.release();
  const { token } = await next;
  expect(await locks.evict(name, { token, reason: 'test', now: true })).toBe(true);
  const config = await locks.rwLock(`${name} config`).write.acquire();
  await config.downgrade();
  await config.release();
  const work = () => once(locks, name, { keepFor: '1m' }, () => 'done');
  expect([(await work()).state, (await work()).state]).toEqual(['ran', 'done']);
  // What waits through a pooler asks, and now and then somebody sweeps.
  await bed.query({ url: server.urlOf(LOGIN) }, `SELECT holdfast.look('[]'), holdfast.sweep()`);
});

test('neither tables, nor what the functions are made of', async () => {
  const place = { url: server.urlOf(LOGIN) };
  for (const statement of [
    ...['store', 'witness', 'resource', 'claim', 'grave', 'kept'].flatMap((table) => [
      `SELECT * FROM holdfast.${table}`,
      `DELETE FROM holdfast.${table}`,
      `INSERT INTO holdfast.${table} DEFAULT VALUES`,
    ]),
    ...['CREATE TABLE holdfast.mine (x int)', 'DROP FUNCTION holdfast.sweep()'],
    ...[
      `SELECT holdfast.record('{}')`,
      `SELECT holdfast.begin('{}')`,
      'SELECT holdfast.forget(0, 1)',
    ],
  ]) {
    const failure = await failureOf(bed.query(place, statement));
    expect(failure, statement).toMatchObject({
      message: expect.stringMatching(/^(permission|must)/),
    });
  }
});

test('objects of the same name elsewhere trap nobody', async () => {
  await server.query('GRANT CREATE ON SCHEMA public TO locks');
  const trap = (name: string): string =>
    `CREATE FUNCTION ${name} RETURNS text LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'trapped'; END $$`;
  const settings = { maxTtl: 30_000, maxWaiters: 9, trust: true, fast: false, patience: 1000 };
  const claim = (id: string): string => {
    const terms = { resource: 'trap', id: id.repeat(32), kind: 'm', permits: 1, limit: 1 };
    const others = { ttl: 20_000, queue: true, address: '-', tag: '-', holder: '{}' };
    const json = [{ ...settings, wake: 'x' }, [{ ...terms, ...others }]].map((each) =>
      JSON.stringify(each),
    );
    return `SELECT holdfast.claim('${json.join("', '")}')`;
  };
  for (const [id, schema] of ['public', 'pg_temp'].entries()) {
    await bed.query(
      { url: server.urlOf(LOGIN) },
      [
        ...[
          'micros()',
          'ceil(numeric)',
          'pg_notify(text, text)',
          'set_config(text, text, boolean)',
        ].map((name) => trap(`${schema}.${name}`)),
        ...['store', 'resource', 'claim'].map((name) => `CREATE TEMPORARY TABLE ${name} (x int)`),
        `SET search_path = ${schema}, public, pg_catalog`,
        claim(`${id}`),
        // The second one goes the long way.
        claim(`${id + 5}`),
      ].join(';'),
    );
  }
});

test('is told which page to read when something is missing', async () => {
  await server.query('REVOKE USAGE ON SCHEMA holdfast FROM locks');
  const store = postgresStore(clientOf('pg', server.urlOf(LOGIN)));
  expect(await failureOf(store.claim([claimOf('a')]))).toMatchObject({
    ...{ code: 'STORE', retryable: false },
    message: expect.stringContaining('docs/stores/postgres.md'),
  });
  await store.close?.();
});
