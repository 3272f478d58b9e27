/** To migrate again changes nothing, goes on where it was cut short, and disturbs nobody. */
import { createLocks } from 'holdfast';
import { sqlFence } from 'holdfast/fence';
import { migrateMysql, mysqlMigration, mysqlStore } from 'holdfast/mysql';
import { createPool, type Pool } from 'mysql2';
import { afterAll, describe, expect, test } from 'vitest';
import { migrate } from '../../../src/stores/mysql/open-url.ts';
import { sleep } from '../../methods/faults/bed.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { PRODUCTS } from './fault-bed.ts';

/** How many statements are made before a migration is cut short: in each of its parts. */
const statements = mysqlMigration().split(/;$/m);
const find = (word: string): number => statements.findIndex((each) => each.includes(word));
const CUTS = [find('INSERT IGNORE'), find('_news ('), -2];

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  afterAll(() => server.close());
  const clientOf = (database: string): Pool =>
    createPool(server.urlOf({ database }).replace('mariadb:', 'mysql:'));

  async function works(database: string): Promise<void> {
    const locks = createLocks(mysqlStore(clientOf(database)));
    await locks.mutex('works').run(() => {});
    await locks.close();
  }

  /** All that is in a database, and since when. */
  async function shape(database: string): Promise<unknown[]> {
    return server.query(`select table_name as name, create_time as made
      from information_schema.tables where table_schema = '${database}'
      union all select routine_name, created from information_schema.routines
        where routine_schema = '${database}' order by name`);
  }

  test('makes another table by its statement, and none of the locks', async () => {
    await server.query('create database fenced');
    const [scheme = '', rest = ''] = server.urlOf({ database: 'fenced' }).split(/:(.*)/);
    const { schema } = sqlFence({ dialect: 'mysql' });
    for (let n = 0; n < 2; n++) await migrate(scheme, rest, schema);
    expect(await shape('fenced')).toMatchObject([{ name: 'holdfast_fence' }]);
  });

  test('several at once make what is made once', async () => {
    await server.query('create database again');
    await Promise.all([1, 2, 3].map(() => migrateMysql(clientOf('again'))));
    const before = await shape('again');
    const names = ['kept', 'lock', 'news', 'store'].map((name) => ({ name: `holdfast_${name}` }));
    expect(before).toMatchObject(names);
    // Tables tell their age in seconds.
    await sleep(1100);
    await migrateMysql(clientOf('again'));
    expect(await shape('again')).toEqual(before);
    await works('again');
  });

  test('nobody who waits or holds is told of it', async () => {
    const client = clientOf('test');
    await migrateMysql(client);
    const ttl = paced(10_000);
    const all = Array.from({ length: 3 }, () => createLocks(mysqlStore(client), { ttl }));
    const trouble: unknown[] = [];
    for (const locks of all) locks.on('lost', ({ reason }) => trouble.push(reason));
    let [on, done] = [true, 0];
    const loops = all.flatMap((locks) =>
      ['a', 'b', 'a'].map(async (name) => {
        while (on) {
          const work = locks.mutex(name, { fair: true }).run(() => sleep(2));
          await work.then(
            () => done++,
            (error: unknown) => trouble.push(error),
          );
        }
      }),
    );
    for (const _ of [1, 2]) {
      const before = done;
      await until('was work done', async () => done > before + 20);
      await migrateMysql(client);
      const after = done;
      await until('was work done afterwards', async () => done > after + 20);
    }
    on = false;
    await Promise.all(loops);
    expect(trouble).toEqual([]);
    for (const locks of all) await locks.close();
  });

  test('tables of others with the same names are left alone', async () => {
    await server.query('create database shop');
    for (const made of ['table shop_store (id int)', 'view shop_news as select 1 as id']) {
      await server.query(`create ${made}`, [], { database: 'shop' });
    }
    const before = await shape('shop');
    const message = expect.stringContaining("Holdfast's: shop_news, shop_store. Give");
    await expect(migrateMysql(clientOf('shop'), { prefix: 'shop_' })).rejects.toMatchObject({
      ...{ code: 'STORE', retryable: false, message },
    });
    expect(await shape('shop')).toEqual(before);
    await migrateMysql(clientOf('shop'));
    await works('shop');
  });

  test('the text for other tools does the same', async () => {
    await server.query('create database printed');
    await server.query(mysqlMigration(), [], { database: 'printed' });
    await works('printed');
    expect(mysqlMigration({ prefix: 'mine_' }).replaceAll('mine_', 'holdfast_')).toBe(
      mysqlMigration(),
    );
  });

  test.each(CUTS)('goes on after %i statements', async (cut) => {
    const database = `cut_${cut}`.replace('-', 'end_');
    await server.query(`create database ${database}`);
    await server.query(statements.slice(0, cut).join(';'), [], { database });
    await migrateMysql(clientOf(database));
    expect(await shape(database)).toHaveLength(4);
    await works(database);
  });
});
