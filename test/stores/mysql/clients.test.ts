/** Every kind of client that people have, and what is none. */
import { openStore } from 'holdfast/connect';
import { type MysqlClient, migrateMysql, mysqlStore } from 'holdfast/mysql';
import * as mariadb from 'mariadb';
import * as mariadbCallbacks from 'mariadb/callback';
import * as mysql2 from 'mysql2';
import * as mysql2Promise from 'mysql2/promise';
import { afterAll, describe, expect, test } from 'vitest';
import { openerOf } from '../../../src/stores/openers.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { startMariadb } from '../../servers/mariadb-server.ts';
import { until } from '../../support/until.ts';

type Ending = MysqlClient & { end(): unknown };

const server = await startMariadb();
afterAll(() => server.close());

const mysqlUrl = (): string => server.url.replace('mariadb:', 'mysql:');
await migrateMysql(mysql2.createPool(mysqlUrl()));

const one = (): string => `${server.url}?connectionLimit=1`;

const CLIENTS: Readonly<Record<string, () => Ending | Promise<Ending>>> = {
  'a pool of mysql2': () => mysql2.createPool(mysqlUrl()),
  'a connection of mysql2': () => mysql2.createConnection(mysqlUrl()),
  'a pool of mysql2/promise': () => mysql2Promise.createPool(mysqlUrl()),
  'a connection of mysql2/promise': () => mysql2Promise.createConnection(mysqlUrl()),
  'a pool of mariadb, with one connection': () => mariadb.createPool(one()),
  'a connection of mariadb': () => mariadb.createConnection(server.url),
  'a pool of mariadb/callback': () => {
    const pool = mariadbCallbacks.createPool(one());
    const end = pool.end.bind(pool, () => {});
    return Object.assign(pool, { end });
  },
};

async function sessions(): Promise<number> {
  const rows = await server.query(
    'select id from information_schema.processlist where id <> connection_id()',
  );
  return rows.length;
}

describe.each(Object.entries(CLIENTS))('%s', (_, make) => {
  test('gives stores that lock and wake, and that leave nothing when they close', async () => {
    const client = await make();
    // A pool of mariadb has connected by itself.
    const [one, other] = [mysqlStore(client), mysqlStore(client)];
    const [holder, waiter] = [claimOf('a'), claimOf('a')];
    let hint = '';
    await other.watch?.(waiter, (status) => {
      hint = status?.state ?? hint;
    });
    await one.claim([holder]);
    await other.claim([waiter]);
    await one.release([holder]);
    await until('was it granted', async () => hint === 'held');
    await other.release([waiter]);
    await one.close?.();
    await other.close?.();
    await client.end();
    await until('were all sessions over', async () => (await sessions()) === 0);
  });
});

test.each([
  ['a text', 'mysql://app:secret@host/db'],
  ['nothing', undefined],
  ['an object', {}],
  ['a pool of something else', { query() {}, connect() {}, end() {} }],
])('%s is refused, and a password is not repeated', (_, client) => {
  const make = (): unknown => mysqlStore(client as unknown as MysqlClient);
  expect(make).toThrow(expect.objectContaining({ code: 'USAGE' }));
  expect(make).not.toThrow(/secret/);
});

test('a client that has ended is refused', async () => {
  const pool = mysql2.createPool(mysqlUrl());
  await pool.promise().end();
  expect(() => mysqlStore(pool)).toThrow('has ended');
});

test.each(['', 'Locks', '1a', 'a-b', "a'", 'a'.repeat(33)])(
  'the prefix %j is refused',
  (prefix) => {
    expect(() => mysqlStore(mysql2.createPool(mysqlUrl()), { prefix })).toThrow('prefix must be');
  },
);

test.each(['mysql', 'mariadb'] as const)(
  '%s: opens a store, and it ends with it',
  async (scheme) => {
    const store = await openStore(server.url.replace('mariadb:', `${scheme}:`));
    expect(await store.claim([claimOf(scheme)])).toMatchObject([{ state: 'held' }]);
    await store.close?.();
    await until('were all sessions over', async () => (await sessions()) === 0);
  },
);

test.each(['mysql', 'mariadb', 'table+mysql'] as const)(
  '%s: the server tells its version and its time',
  async (scheme) => {
    const { opener, rest } = await openerOf(server.url.replace('mariadb:', `${scheme}:`));
    const facts = await opener.facts?.(scheme, rest);
    expect(facts).toMatchObject({ version: expect.stringMatching(/^MariaDB \d+\.\d+/) });
    const { aheadMs = Number.NaN, withinMs = 0 } = facts?.clock ?? {};
    expect(Math.abs(aheadMs)).toBeLessThan(withinMs + 1_000);
    await until('were all sessions over', async () => (await sessions()) === 0);
  },
);

test.each(['mysql://host', 'mysql:host/db', 'mysql://u:secret@host/db?maxWaiters=x'])(
  'the URL %s is refused, and its password is not repeated',
  async (url) => {
    const opened = openStore(url);
    await expect(opened).rejects.toMatchObject({ code: 'USAGE' });
    await expect(opened).rejects.not.toThrow(/secret/);
  },
);
