/** To migrate again changes nothing, goes on where it was cut short, and disturbs nobody. */
import { readFileSync } from 'node:fs';
import { createLocks } from 'holdfast';
import { migrateMysql, mysqlMigration, mysqlStore } from 'holdfast/mysql';
import { createPool, type Pool } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import { afterAll, describe, expect, test } from 'vitest';
import { claimOf, sleep } from '../../methods/faults/bed.ts';
import { until } from '../../support/until.ts';
import { PRODUCTS } from './fault-bed.ts';

const layout1 = readFileSync(new URL('layout-1.sql', import.meta.url), 'utf8');

const MICROS = "timestampdiff(microsecond, '1970-01-01', sysdate(6))";

/** How many statements are made before a migration is cut short: in each of its parts. */
const statements = mysqlMigration().split(/;$/m);
const find = (word: string): number => statements.findIndex((each) => each.includes(word));
const CUTS = [10, find('_news ('), find('START TRANSACTION') + 2, find('COMMIT'), -2];

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  const pools: Pool[] = [];
  const clientOf = (database: string): Pool => {
    const pool = createPool(server.urlOf({ database }).replace('mariadb:', 'mysql:'));
    pools.push(pool);
    return pool;
  };
  afterAll(() => {
    for (const pool of pools) pool.end();
    return server.close();
  });

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

  test('every table has a primary key, as some servers require, and is of InnoDB', async () => {
    await migrateMysql(clientOf('test'));
    const tables = await server.query<{ engine: string; keys: number }>(
      `select engine as engine, (select count(*) from information_schema.statistics s
        where s.table_schema = t.table_schema and s.table_name = t.table_name
          and s.index_name = 'PRIMARY' and s.seq_in_index = 1) as \`keys\`
        from information_schema.tables t where table_schema = 'test'`,
    );
    expect(tables).toEqual(tables.map(() => ({ engine: 'InnoDB', keys: 1 })));
  });

  test('nobody who waits or holds is told of it', async () => {
    const client = clientOf('test');
    await migrateMysql(client);
    const all = Array.from({ length: 3 }, () => createLocks(mysqlStore(client), { ttl: '10s' }));
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

  test('the text for other tools does the same', async () => {
    await server.query('create database printed');
    await server.query(mysqlMigration(), [], { database: 'printed' });
    await works('printed');
    expect(mysqlMigration({ prefix: 'mine_' }).replaceAll('mine_', 'holdfast_')).toBe(
      mysqlMigration(),
    );
  });

  /** A database with the tables of layout 1, and a lock that is held for 20 s. */
  async function ofLayout1(database: string): Promise<Pool> {
    await server.query(`create database ${database}`);
    const client = clientOf(database);
    await migrateMysql(client);
    // Which data of which server it is, both layouts say in the same words.
    const [store] = await server.query<{ history: string }>(
      'select history from holdfast_store',
      [],
      { database },
    );
    const made = store?.history.split(' ')[2];
    await server.query(
      'drop table holdfast_store, holdfast_lock, holdfast_news, holdfast_kept',
      [],
      { database },
    );
    await server.query(layout1, [], { database });
    const [row] = await server.query<{ made: number }>(
      `select unix_timestamp(create_time) as made from information_schema.tables
        where table_schema = '${database}' and table_name = 'holdfast_store'`,
    );
    const history = store?.history.replace(` ${made} `, ` ${row?.made} `);
    await server.query(
      `insert into holdfast_store values (true, 1, 30000000, 0, 0, false, '${history}');
      insert into holdfast_resource (name, kind, number, id, expires, permits, capacity, ttl,
        address, tag, holder) values ('held', 'm', ${MICROS}, repeat('a', 32),
        ${MICROS} + 20000000, 1, 1, 20000, '-', '-', '{"host":"before","pid":1,"since":0}'),
        ('free', 'm', 4000000000000000, null, null, null, null, null, null, null, null)`,
      [],
      { database },
    );
    return client;
  }

  const left = async (database: string): Promise<unknown[]> =>
    (await shape(database)).map((each) => (each as { name: string }).name);

  describe('tables of layout 1', () => {
    test('go, with their procedures; holds go on, and numbers grow', async () => {
      const client = await ofLayout1('moved');
      await Promise.all([1, 2, 3].map(() => migrateMysql(client)));
      const store = mysqlStore(client);
      const { holders } = await store.inspect('held');
      expect(holders).toMatchObject([{ holder: { host: 'before' } }]);
      const [waits, held] = await store.claim([claimOf('held'), claimOf('free')]);
      expect(waits).toMatchObject({ state: 'waiting', why: 'queue' });
      // Nothing was lost, so nobody has to wait.
      expect(held).toMatchObject({ state: 'held' });
      expect(held?.state === 'held' && held.token > 4_000_000_000_000_000n).toBe(true);
      await store.close?.();
      expect(await left('moved')).toEqual(
        ['kept', 'lock', 'news', 'store'].map((name) => `holdfast_${name}`),
      );
    });

    test.each(CUTS)('are moved to the end after %i statements', async (cut) => {
      const database = `cut_${cut}`.replace('-', 'end_');
      const client = await ofLayout1(database);
      await server.query(statements.slice(0, cut).join(';'), [], { database });
      await migrateMysql(client);
      expect(await left(database)).toHaveLength(4);
      const store = mysqlStore(client);
      expect((await store.inspect('held')).holders).toHaveLength(1);
      expect(await store.claim([claimOf('free')])).toMatchObject([{ state: 'held' }]);
      await store.close?.();
    });

    test('with a crowd make all wait until its last hold is over', async () => {
      const client = await ofLayout1('crowded');
      const claim = (n: number, admitted: boolean): string =>
        `('free', ${n}, repeat('${n}', 32), ${admitted}, ${MICROS} + 3000000, 'm', 1, 1, 3000,
          '-', '-', '{}')`;
      await server.query(
        `insert into holdfast_claim (resource, number, id, admitted, expires, kind, permits,
          capacity, ttl, address, tag, holder) values ${claim(1, true)}, ${claim(2, false)};
        update holdfast_resource set crowd = true, waiters = 1 where name = 'free'`,
        [],
        { database: 'crowded' },
      );
      await migrateMysql(client);
      const locks = createLocks(mysqlStore(client));
      expect(await locks.mutex('free').tryAcquire()).toBeNull();
      const lease = await locks.mutex('free').acquire();
      await lease.release();
      await locks.close();
    });

    test('are waited for while somebody reads them', async () => {
      const client = await ofLayout1('busy');
      const { host, port } = server;
      const reader = await createConnection({ host, port, user: 'root', database: 'busy' });
      await reader.query('start transaction');
      await reader.query('select * from holdfast_resource');
      let over = false;
      const migrating = migrateMysql(client).finally(() => (over = true));
      await until('did it wait', async () => {
        const waiting = `select 1 from information_schema.processlist
          where state like 'Waiting for table metadata lock'`;
        return (await server.query(waiting)).length > 0;
      });
      expect(over).toBe(false);
      await reader.end();
      await migrating;
      await works('busy');
    });
  });
});
