/** The user of the page may do what is needed, and nothing else. */
import { readFileSync } from 'node:fs';
import { createLocks } from 'holdfast';
import { expect, test } from 'vitest';
import { literal } from '../../../src/stores/postgres/fragments.ts';
import { statementsOf } from '../../../src/stores/postgres/statements.ts';
import { useAll } from '../../methods/faults/verbs.ts';
import { CLIENTS, failureOf, sharedServer } from './bed.ts';

const page = readFileSync('docs/stores/postgres.md', 'utf8');
const [, grants = ''] = /^```sql\n(CREATE ROLE locks[\s\S]*?)^```$/m.exec(page) ?? [];

const LOGIN = { user: 'locks', password: 'secret' };

const { bed, server } = await sharedServer({ hba: ['host all locks 127.0.0.1/32 scram-sha-256'] });
await server.query(grants);

test.each(CLIENTS)('%s: all verbs', async (client) => {
  const store = bed.store({ url: server.urlOf(LOGIN) }, { client });
  await useAll(createLocks(store, { prefix: `${client}:` }));
  // Now and then each program sweeps.
  const texts = statementsOf('holdfast');
  for (const [text, values] of [
    [texts.raise_highest, ['600000000']],
    [texts.sweep, ['', '500', '600000000']],
  ] as const) {
    await bed.query({ url: server.urlOf(LOGIN) }, literal(text ?? '', values));
  }
});

test('makes nothing in the schema, and drops nothing', async () => {
  const place = { url: server.urlOf(LOGIN) };
  for (const statement of [
    'CREATE TABLE holdfast.mine (x int)',
    'DROP TABLE holdfast.lock',
    'TRUNCATE holdfast.lock',
    'ALTER TABLE holdfast.lock ADD COLUMN mine int',
  ]) {
    expect(await failureOf(bed.query(place, statement)), statement).toMatchObject({
      message: expect.stringMatching(/^(permission|must)/),
    });
  }
});

test('nothing that is made is a function', async () => {
  const functions = `SELECT FROM pg_proc WHERE pronamespace = 'holdfast'::regnamespace`;
  expect(await server.query(functions)).toEqual([]);
});

test('every table has a primary key, as some servers require', async () => {
  const without = `SELECT relname FROM pg_class c WHERE relkind = 'r'
    AND relnamespace = 'holdfast'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`;
  expect(await server.query(without)).toEqual([]);
});
