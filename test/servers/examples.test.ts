/** Examples with their locks on real servers, and with their data there as well where they can. */
import { migrateMysql } from 'holdfast/mysql';
import { migratePostgres } from 'holdfast/postgres';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { expect, test } from 'vitest';
import { start } from '../examples/run.ts';
import { closing } from '../support/closing.ts';
import { startMariadb } from './mariadb-server.ts';
import { startPostgres } from './postgres-server.ts';
import { RedisServer } from './redis-server.ts';

async function expectGood(name: string, url: string): Promise<string> {
  const { ended, leftBehind } = start(name, '--store', url);
  const { code, output } = await ended;
  expect(output).toContain('✓');
  expect(output).not.toContain('✗');
  expect(code).toBe(0);
  expect(leftBehind()).toEqual([]);
  return output;
}

test('on Redis, with what they lock elsewhere', async () => {
  const server = closing(await RedisServer.start());
  const url = `${server.url}?afterDataLoss=trust`;
  for (const name of ['gpu-pool', 'standby', 'order-queue']) await expectGood(name, url);
});

test('inventory on PostgreSQL', async () => {
  const server = closing(await startPostgres());
  const pool = new pg.Pool({ connectionString: server.url });
  await migratePostgres(pool);
  await expectGood('inventory', server.url);
  const { rows } = await pool.query("SELECT 1 FROM pg_tables WHERE tablename LIKE '%example%'");
  expect(rows).toEqual([]);
  await pool.end();
});

test('inventory on MariaDB', async () => {
  const server = closing(await startMariadb());
  const pool = createPool(server.url);
  await migrateMysql(pool);
  const { code, output } = await start('inventory', '--json', '--store', server.url).ended;
  const results = JSON.parse(output) as { way: string; sold: number; soldAfterStall: number }[];
  const counts = results.map(({ way, sold, soldAfterStall }) => [way, sold, soldAfterStall]);
  expect(counts).toEqual([
    ['no lock', expect.any(Number), expect.any(Number)],
    ['row lock', 200, 20],
    ['version', 200, 20],
    ['mutex', 200, 40],
    ['mutex + fence', 200, 20],
  ]);
  expect(code).toBe(0);
  const [tables] = await pool.query("SHOW TABLES LIKE '%example%'");
  expect(tables).toEqual([]);
  await pool.end();
});
