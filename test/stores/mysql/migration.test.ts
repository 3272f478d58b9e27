/** To migrate again changes what has to be changed, and disturbs nobody. */
import { createLocks } from 'holdfast';
import { migrateMysql, mysqlMigration, mysqlStore } from 'holdfast/mysql';
import { createPool } from 'mysql2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { claimOf, sleep } from '../../methods/faults/bed.ts';
import { until } from '../../servers/until.ts';
import { PRODUCTS } from './fault-bed.ts';

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  const clientAs = (user: string) =>
    createPool(server.urlOf({ user }).replace('mariadb:', 'mysql:'));
  const root = clientAs('root');
  beforeAll(() => server.query(`create user other@'%'; grant all on *.* to other@'%'`));
  afterAll(() => {
    root.end();
    return server.close();
  });
  beforeEach(() => migrateMysql(root));

  /** Each procedure, when and by whom it was made. */
  const routines = async (): Promise<ReadonlyMap<string, string>> => {
    const rows = await server.query<{ name: string; made: string }>(
      `select routine_name as name, concat_ws(' ', created, last_altered, definer,
        md5(routine_definition)) as made from information_schema.routines
        where routine_schema = 'test' order by 1`,
    );
    return new Map(rows.map(({ name, made }) => [name, made]));
  };

  test('nothing that is as wanted is touched', async () => {
    const before = await routines();
    expect(before.size).toBe(mysqlMigration().match(/^CREATE PROCEDURE/gm)?.length);
    // Procedures tell their age in seconds.
    await sleep(1100);
    await migrateMysql(root);
    expect(await routines()).toEqual(before);
  });

  test('what an older version made is replaced, and what is missing is made', async () => {
    const before = await routines();
    await server.query(`drop procedure holdfast_names; drop procedure holdfast_look;
      create definer = root@'127.0.0.1' procedure holdfast_names() comment 'old' do 0`);
    await sleep(1100);
    await migrateMysql(root);
    const after = await routines();
    const changed = [...after].filter(([name, made]) => before.get(name) !== made);
    expect(changed.map(([name]) => name)).toEqual(['holdfast_look', 'holdfast_names']);
    const bodies = (all: ReadonlyMap<string, string>) =>
      Array.from(all, ([name, made]) => [name, made.split(' ').at(-1)]);
    expect(bodies(after)).toEqual(bodies(before));
  });

  test('tables from before claims said that they trust keep who holds and who waits', async () => {
    const store = mysqlStore(root);
    const both = [claimOf('a'), claimOf('a')];
    for (const each of both) await store.claim([each]);
    await server.query('alter table holdfast_claim drop column trusts');
    // It waits for nobody for long, for everybody would wait behind it.
    const reader = await clientAs('root').promise().getConnection();
    await reader.query('start transaction');
    await reader.query('select * from holdfast_claim');
    await expect(migrateMysql(root)).rejects.toMatchObject({ code: 'STORE', retryable: true });
    reader.destroy();
    await migrateMysql(root);
    expect(await store.renew(both)).toMatchObject([{ state: 'held' }, { state: 'waiting' }]);
    await store.release(both);
    await store.close?.();
  });

  test('what another user made runs as whoever migrates now', async () => {
    await migrateMysql(clientAs('other'));
    await migrateMysql(root);
    const definers = await server.query<{ definer: string }>(
      `select distinct definer as definer from information_schema.routines
        where routine_schema = 'test'`,
    );
    expect(definers).toEqual([{ definer: 'root@127.0.0.1' }]);
  });

  test('nobody who waits or holds is told of it, also where all is replaced', async () => {
    const all = Array.from({ length: 3 }, () =>
      createLocks(mysqlStore(clientAs('root')), { ttl: '10s' }),
    );
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
    for (const user of ['other', 'root']) {
      const before = done;
      await until('was work done', async () => done > before + 20);
      await migrateMysql(clientAs(user));
      const after = done;
      await until('was work done afterwards', async () => done > after + 20);
    }
    on = false;
    await Promise.all(loops);
    expect(trouble).toEqual([]);
    for (const locks of all) await locks.close();
  });

  test('a program that opens while procedures are being replaced may try again', async () => {
    const before = { code: 'STORE', outcome: 'failed' };
    const store = mysqlStore(root);
    await server.query('drop procedure holdfast_facts');
    await expect(store.claim([claimOf('a')])).rejects.toMatchObject({
      ...before,
      retryable: false,
    });
    await store.close?.();
    const migrating = clientAs('root').promise();
    const connection = await migrating.getConnection();
    await connection.query("select get_lock('holdfast_migration', 0)");
    const other = mysqlStore(root);
    await expect(other.claim([claimOf('a')])).rejects.toMatchObject({ ...before, retryable: true });
    await other.close?.();
    connection.destroy();
  });

  test('a call whose procedure is gone in that moment may be made again', async () => {
    const store = mysqlStore(root);
    await store.claim([claimOf('a')]);
    await server.query('drop procedure holdfast_names');
    const list = async () => {
      for await (const _ of store.list?.('') ?? []);
    };
    await expect(list()).rejects.toMatchObject({ retryable: true, outcome: 'unknown' });
    await migrateMysql(root);
    await list();
    await store.close?.();
  });
});
