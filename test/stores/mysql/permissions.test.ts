/** The user of the page may do what is needed, and nothing else. */
import { readFileSync } from 'node:fs';
import { createLocks } from 'holdfast';
import { migrateMysql, mysqlStore } from 'holdfast/mysql';
import { createPool, type Pool } from 'mysql2';
import { afterAll, describe, expect, test } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { refusal } from '../../methods/faults/sql-calls.ts';
import { useAll } from '../../methods/faults/verbs.ts';
import { until } from '../../support/until.ts';
import { World } from './caller.ts';
import { PRODUCTS, rootOn } from './fault-bed.ts';

const page = readFileSync('docs/stores/mysql.md', 'utf8');
const [, grants = ''] = /^```sql\n(CREATE USER locks[\s\S]*?)^```$/m.exec(page) ?? [];

const LOGIN = { user: 'locks', password: 'secret' };
const OTHER = { user: 'others', password: 'secret' };

/** To a table, or a column; to a database. */
const DENIED = [1142, 1143, 1044];

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  const clientAs = (login: object): Pool =>
    createPool(server.urlOf(login).replace('mariadb:', 'mysql:'));
  const [client, other] = [clientAs(LOGIN), clientAs(OTHER)];
  afterAll(() => server.close());
  await migrateMysql(clientAs({}));
  for (const user of ['locks', 'others']) {
    for (const statement of grants.split(';\n').filter(Boolean)) {
      await server.query(statement.replace('app.', 'test.').replace('locks', user));
    }
  }

  test('takes locks, waits, keeps records and evicts', async () => {
    const locks = createLocks(mysqlStore(client));
    await useAll(locks);
    await locks.close();
    // Now and then each program sweeps.
    const world = new World(server, LOGIN);
    await world.sweep();
    await world.close();
  });

  test('makes nothing, and drops nothing', async () => {
    for (const statement of [
      'create table mine (x int)',
      'drop table holdfast_lock',
      'truncate holdfast_lock',
      'alter table holdfast_lock add column mine int',
      'delete from holdfast_store',
    ]) {
      expect(DENIED, statement).toContain(await refusal(server.query(statement, [], LOGIN)));
    }
  });

  /** How long it takes until the release by the first is heard by the second, in ms. */
  async function handOff(...pair: readonly [Pool, Pool]): Promise<number> {
    const [one, two] = [mysqlStore(pair[0]), mysqlStore(pair[1])];
    const [holder, waiter] = [claimOf('handed'), claimOf('handed')];
    let granted = false;
    await two.watch?.(waiter, (hint) => {
      granted = hint?.state === 'held';
    });
    await one.claim([holder]);
    expect(await two.claim([waiter])).toMatchObject([{ state: 'waiting' }]);
    const since = performance.now();
    await one.release([holder]);
    await until('was it told', async () => granted);
    const ms = performance.now() - since;
    await two.release([waiter]);
    for (const store of [one, two]) await store.close?.();
    return ms;
  }

  test('wakes programs of the same user at once', async () => {
    // Each looks by itself once a second, which one of several would happen upon.
    const all: number[] = [];
    for (let n = 0; n < 5; n++) all.push(await handOff(client, client));
    expect(Math.min(...all)).toBeLessThan(300);
  });

  test('is found by programs of another user when they look by themselves', async () => {
    await handOff(client, other);
  });

  test('cannot disturb sessions of others', async () => {
    const session = await rootOn(server);
    for (const what of ['query', 'connection']) {
      expect(await refusal(server.query(`kill ${what} ${session.threadId}`, [], LOGIN))).toBe(1095);
    }
    await session.end();
  });

  test('migrates with the right to create', async () => {
    await server.query('create database fresh');
    await server.query(`create user maker identified by 'secret'`);
    await server.query('grant select, insert, update, delete, create on fresh.* to maker');
    const maker = clientAs({ user: 'maker', password: 'secret', database: 'fresh' });
    await migrateMysql(maker);
    await migrateMysql(maker);
    expect(await server.query('select layout from fresh.holdfast_store')).toEqual([{ layout: 1 }]);
  });

  test('is told which page to read when something is missing', async () => {
    await server.query('revoke select, update on test.holdfast_store from locks');
    const store = mysqlStore(client);
    await expect(store.claim([claimOf('a')])).rejects.toMatchObject({
      ...{ code: 'STORE', retryable: false },
      message: expect.stringContaining('docs/stores/mysql.md'),
    });
    await store.close?.();
  });
});
