import { mysqlMigration, mysqlStore } from 'holdfast/mysql';
import { createPool } from 'mysql2';
import { afterAll, describe, expect, test } from 'vitest';
import type { Store } from '../../src/store.ts';
import { differ } from '../differential/differ.ts';
import { MAX_TTL_MS } from '../differential/steps.ts';
import { startMariadb } from '../servers/mariadb-server.ts';
import { type MysqlServer, startMysql } from '../servers/mysql-server.ts';
import { statementsIn } from './statements.ts';

/** Beyond what a queue that nobody is in is remembered for. */
const LONG_MS = 700_000;

/** The procedures with a clock that stands still unless it is stepped. */
async function install(server: MysqlServer): Promise<void> {
  await server.query('create table step (us bigint) engine = memory; insert into step values (0)');
  const now = "('2030-01-01' + INTERVAL (SELECT us FROM step) MICROSECOND)";
  const text = mysqlMigration().replaceAll('UTC_TIMESTAMP(6)', now);
  // The mode of a session is that of the procedures it makes.
  for (const statement of statementsIn(text)) {
    await server.query(`SET NAMES utf8mb4; SET sql_mode = 'STRICT_ALL_TABLES'; ${statement}`);
  }
}

describe.each([
  ['MariaDB', startMariadb],
  ['MySQL', startMysql],
] as const)('%s', (_, start) => {
  const ends: (() => unknown)[] = [];
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  test('answers and tells as memory does', { timeout: 240_000 }, async () => {
    const server = await start();
    ends.push(() => server.close());
    await install(server);
    const pass = (ms: number) => server.query(`update step set us = us + ${ms * 1000}`);
    const client = createPool(server.url.replace('mariadb:', 'mysql:'));
    await differ({
      open: (options): Store => {
        const trusting = { afterDataLoss: 'trust', maxTtl: MAX_TTL_MS } as const;
        const store = mysqlStore(client, { ...trusting, ...options });
        ends.push(() => store.close?.());
        return store;
      },
      pass,
      groups: 1,
    });
    await pass(LONG_MS);
    // The first one remembers the numbers.
    for (const _ of [1, 2, 3, 4]) await server.query('call holdfast_sweep()');
    const left = await server.query(`select (select count(*) from holdfast_resource) as resources,
      (select count(*) from holdfast_claim) as claims,
      (select count(*) from holdfast_grave) as graves`);
    expect(left).toEqual([{ resources: 0, claims: 0, graves: 0 }]);
  });
});
