/** The user of the page may do what the page says, and nothing else. */

import { readFileSync } from 'node:fs';
import { createLocks } from 'holdfast';
import { migrateMysql, mysqlStore } from 'holdfast/mysql';
import { once } from 'holdfast/once';
import { createPool } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import { afterAll, describe, expect, test } from 'vitest';
import { refusal, SETTINGS } from '../../methods/faults/sql-calls.ts';
import { until } from '../../servers/until.ts';
import { PRODUCTS } from './fault-bed.ts';

const page = readFileSync('docs/stores/mysql.md', 'utf8');
const [, grants = ''] = /^```sql\n(CREATE USER locks[\s\S]*?)^```$/m.exec(page) ?? [];

const LOGIN = { user: 'locks', password: 'secret' };

/** What a store calls, each with the rights of the user who migrated. */
const VERBS = [
  ...['change', 'claim', 'claim_one', 'facts', 'inspect', 'keep', 'listen', 'look', 'names'],
  ...['recall', 'release', 'release_one', 'renew', 'renew_one', 'sweep'],
];

/** In the form of a listener's, for those who look for one. */
const ADDRESS = '0123456789abcdef';

/** To a table, a column or a routine. */
const DENIED = [1142, 1143, 1370];

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  const root = createPool(server.url.replace('mariadb:', 'mysql:'));
  afterAll(() => {
    root.end();
    return server.close();
  });
  await migrateMysql(root);
  for (const statement of grants.split(';\n').filter(Boolean)) {
    await server.query(statement.replace('app.*', 'test.*'));
  }
  const asUser = (sql: string): Promise<unknown> => server.query(sql, [], LOGIN);
  const contents = async (): Promise<unknown> => {
    const tables = ['store', 'resource', 'claim', 'grave', 'kept'];
    const rows = tables.map((table) => server.query(`select * from holdfast_${table}`));
    return Promise.all(rows);
  };
  /** A session of root that has a named lock and something to do, until it is disturbed. */
  const victim = async (
    lock: string,
  ): Promise<{ work: Promise<unknown>; end(): Promise<unknown> }> => {
    const { host, port } = server;
    const session = await createConnection({ host, port, user: 'root', database: 'test' });
    session.on('error', () => {});
    await session.query('select get_lock(?, 0)', [lock]);
    const work = session.query('select sleep(20)').catch(() => 'disturbed');
    const [{ id } = { id: 0 }] = await server.query<{ id: number }>(
      'select is_used_lock(?) as id',
      [lock],
    );
    await until('was it at work', async () => {
      const busy = `select 1 from information_schema.processlist where id = ${id} and info <> ''`;
      return (await server.query(busy)).length === 1;
    });
    return { work, end: () => server.query(`kill ${id}`) };
  };

  test('takes locks, waits, keeps records and evicts', async () => {
    const client = createPool(server.urlOf(LOGIN).replace('mariadb:', 'mysql:'));
    const locks = createLocks(mysqlStore(client));
    const lease = await locks.mutex('a').acquire();
    const next = locks.mutex('a', { fair: true }).acquire();
    await lease.renew();
    const names: string[] = [];
    for await (const each of locks.list('a')) names.push(each);
    expect(names).toEqual(['a']);
    await lease.release();
    const { token } = await next;
    expect(await locks.evict('a', { token, reason: 'test', now: true })).toBe(true);
    const config = await locks.rwLock('config').write.acquire();
    await config.downgrade();
    await config.release();
    const work = () => once(locks, 'a', { keepFor: '1m' }, () => 'done');
    expect([(await work()).state, (await work()).state]).toEqual(['ran', 'done']);
    await locks.close();
    client.end();
  });

  test('only verbs have the rights of the user who migrated', async () => {
    const routines = await server.query<{ name: string }>(
      `select substring(routine_name, 10) as name from information_schema.routines
        where routine_schema = 'test' and security_type = 'DEFINER' order by 1`,
    );
    expect(routines.map(({ name }) => name)).toEqual(VERBS);
  });

  test('no table can be read or written, also not by what the verbs are made of', async () => {
    const store = mysqlStore(root);
    const locks = createLocks(store, { ttl: '20s' });
    const lease = await locks.mutex('job').acquire();
    const before = await contents();
    const id = '0'.repeat(32);
    const settings = JSON.stringify(SETTINGS);
    for (const statement of [
      ...['store', 'resource', 'claim', 'grave', 'kept'].flatMap((table) => [
        `select * from holdfast_${table}`,
        `delete from holdfast_${table}`,
      ]),
      "call holdfast_settle('job', null, 9000000000000000, 0, null, null, @r)",
      "call holdfast_spread('job')",
      "call holdfast_save('job')",
      `call holdfast_pass('job', '${id}', '-', @r, @l, @t)`,
      `call holdfast_leave('job', '${id}', 1, false, 0, 1, 0, @r, @l)`,
      `call holdfast_bury('job', '${id}', 9000000000000000, 'evicted', '')`,
      `call holdfast_depart('job', '${id}', 1, 1, 0, @r)`,
      `call holdfast_beat('job', '${id}', 1, 1, 0, @r, @l)`,
      `call holdfast_join('job', '${id}', 1, '-', '-', '', false, 9, 0, @r, @l)`,
      `call holdfast_enter('job', '${id}', 'm', 1, 1, 1, 1, '-', '-', '', 0, 9, 1, 0, 0, @r, @l)`,
      "call holdfast_close_ranks('job', 1, 1)",
      "call holdfast_status('job', 1, 1, 0, @l)",
      `call holdfast_missing('${id}', 1, 0, @l)`,
      'call holdfast_forget(9000000000000000, 1)',
      `call holdfast_record('${settings}', true)`,
      `call holdfast_begin('${settings}', @a, @b, @c)`,
      `call holdfast_known('${settings}', @a, @b, @c, @d)`,
      `call holdfast_await('{"patience":10}', 'job')`,
      `set @c = '[{"resource":"job"},{"resource":"a"}]'; call holdfast_take('${settings}', @c, @b)`,
      'drop procedure holdfast_sweep',
      'create table mine (x int)',
    ]) {
      expect(DENIED, statement).toContain(await refusal(asUser(`set @r = ''; ${statement}`)));
    }
    // What is left touches no table.
    const rest = ['micros(@a)', `rouse('${ADDRESS}', @r)`, `ring('${settings}', '')`, 'history()'];
    for (const call of rest) await asUser(`set @r = ''; call holdfast_${call}`);
    expect(await contents()).toEqual(before);
    expect(lease.held).toBe(true);
    await lease.release();
    await locks.close();
  });

  test.each([
    ['fly', 'way'],
    ['holdfast_', 'migration'],
  ])('nobody is interrupted who does not listen: %s, %s', async (wake, address) => {
    const { work, end } = await victim(`${wake}${address}`);
    const claim = { resource: `of ${address}`, ttl: 30_000, queue: true, kind: 'm' };
    const terms = { permits: 1, limit: 1, tag: 'x', holder: '{}' };
    const settings = JSON.stringify({ ...SETTINGS, wake });
    for (const [n, each] of [address, '-'].entries()) {
      const claims = [{ ...claim, ...terms, id: String(n).repeat(32), address: each }];
      // The second begins to wait, and the first is to be told.
      await asUser(`call holdfast_claim('${settings}', '${JSON.stringify(claims)}')`);
    }
    const over = await Promise.race([work, server.query("select 'goes on'")]);
    expect(over).toEqual([{ 'goes on': 'goes on' }]);
    await end();
  });

  test('the time is that of the server, whatever the session says', async () => {
    const locks = createLocks(mysqlStore(root), { ttl: '20s' });
    const lease = await locks.mutex('timed').acquire();
    const rows = "select id, number from holdfast_resource where name = 'timed'";
    const before = await server.query(rows);
    const settings = JSON.stringify(SETTINGS);
    const id = 'f'.repeat(32);
    const terms = { permits: 1, limit: 1, address: '-', tag: '-', holder: '{}' };
    const claim = { resource: 'timed', id, kind: 'm', ttl: 1000, queue: false, ...terms };
    const later = 'set timestamp = unix_timestamp() + 7200; set @holdfast_start = 5';
    for (const call of [
      `claim('${settings}', '${JSON.stringify([claim])}')`,
      `claim_one('${settings}', 'timed', '${id}', 'm', 1, 1, 1000, false, '-', '-', '{}')`,
      `inspect('${settings}', 'timed')`,
      ...['sweep()', 'sweep()'],
    ]) {
      await asUser(`${later}; call holdfast_${call}`);
      expect(await server.query(rows), call).toEqual(before);
    }
    await lease.renew();
    await lease.release();
    await locks.close();
  });

  test('no session is ended but the own one', async () => {
    const { work, end } = await victim(`holdfast_${ADDRESS}`);
    const listen = asUser(`call holdfast_listen('holdfast_${ADDRESS}', 'gate', 0, ' ', 0)`);
    expect(await refusal(listen)).toBe(1644);
    const over = await Promise.race([work, server.query("select 'goes on'")]);
    expect(over).toEqual([{ 'goes on': 'goes on' }]);
    await end();
  });
});
