/** What MySQL and MariaDB do only if they are told so, or only if they are not. */
import { changeState, optimistic, rowLock } from 'holdfast/sql';
import { describe, expect, test } from 'vitest';
import { PRODUCTS, useClient, useServer } from './bed.ts';
import { on } from './clients.ts';

/** The greatest of each column for a version. */
const MOST: readonly (readonly [type: string, most: bigint])[] = [
  ['tinyint', 127n],
  ['tinyint unsigned', 255n],
  ['smallint(5) unsigned zerofill', 65_535n],
  ['mediumint', 8_388_607n],
  ['int', 2_147_483_647n],
  ['bigint', 9_223_372_036_854_775_807n],
  ['bigint unsigned', 18_446_744_073_709_551_615n],
  ['decimal(3, 0)', 999n],
];

/** Whose next number may be the same, or that are no numbers. */
const NONE = ['float', 'double', 'float(10, 0)', 'varchar(20)'];

const MYSQL = PRODUCTS.filter(({ name }) => name !== 'PostgreSQL');

describe.each(MYSQL)('$name', (product) => {
  // Whatever does not fit is cut off.
  const server = useServer(product, ['--sql-mode=']);
  const client = useClient(product.plain, server);
  const clients = Object.entries(product.clients);

  async function table(type: string, version: bigint): Promise<void> {
    await on(client.db).count('DROP TABLE IF EXISTS full');
    await on(client.db).count(`CREATE TABLE full (id int PRIMARY KEY, n int, version ${type})`);
    await on(client.db).count(`INSERT INTO full VALUES (1, 0, ${version})`);
  }

  const row = { table: 'full', key: { id: 1 }, version: 'version' };

  test.each(clients)('a version grows as far as it can: %s', async (_, open) => {
    const many = open(server.url);
    for (const [type, most] of MOST) {
      await table(type, most - 1n);
      const change = () => optimistic<{ n: number }>(many.db, row, ({ n }) => ({ n: n + 1 }));
      await change();
      const full = { code: 'USAGE', message: expect.stringContaining(`${most}`) };
      await expect(change(), type).rejects.toMatchObject(full);
      expect(await on(client.db).rows('SELECT n FROM full'), type).toEqual([{ n: 1 }]);
    }
    await many.close();
  });

  test('what looks like full in another column is not', async () => {
    await table('int', 127n);
    const versions = [127n, 255n, 32_767n, 65_535n, 999n, 9n];
    for (const version of versions) {
      await on(client.db).count(`UPDATE full SET version = ${version}`);
      expect(await optimistic(client.db, row, () => ({ n: 1 }))).toMatchObject({ attempts: 1 });
    }
  });

  test.each(NONE)('a version that is %s is none', async (type) => {
    await table(type, 5n);
    await expect(optimistic(client.db, row, () => ({ n: 1 }))).rejects.toMatchObject({
      code: 'USAGE',
    });
    expect(await on(client.db).rows('SELECT n FROM full')).toEqual([{ n: 0 }]);
  });

  test.each(clients)('a pool that does not commit: %s', async (_, open) => {
    await table('int', 5n);
    await on(client.db).count('SET GLOBAL autocommit = 0');
    const many = open(server.url);
    const state = { table: 'full', key: { id: 1 }, from: { n: 0 }, to: { n: 1 } };
    const usage = { code: 'USAGE', message: expect.stringContaining('autocommit') };
    await expect(changeState(many.db, state)).rejects.toMatchObject(usage);
    await expect(optimistic(many.db, row, () => ({ n: 1 }))).rejects.toMatchObject(usage);
    // In transactions it does not matter.
    expect(await many.transaction((tx) => changeState(tx, state))).toBe(true);
    expect(await on(client.db).rows('SELECT n FROM full')).toEqual([{ n: 1 }]);
    await many.close();
    await on(client.db).count('SET GLOBAL autocommit = 1');
  });

  test('a row that is never made costs no numbers', async () => {
    const account = `CREATE TABLE account (id int AUTO_INCREMENT PRIMARY KEY,
      mail varchar(20) NOT NULL UNIQUE)`;
    await on(client.db).count(account);
    const insert = "INSERT INTO account (mail) VALUES ('first'), ('second')";
    await on(client.db).count(insert);
    const key = { mail: 'first' };
    for (let n = 0; n < 5; n++) {
      await client.transaction((tx) => rowLock(tx, { table: 'account', key, insert: false }));
    }
    await on(client.db).count("INSERT INTO account (mail) VALUES ('next')");
    const next = "SELECT id FROM account WHERE mail = 'next'";
    // The first statement of two rows has drawn two numbers, or three.
    const [made] = await on(client.db).rows(next);
    expect(Number(made?.id)).toBeLessThan(5);
  });
});
