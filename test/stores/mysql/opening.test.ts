/** Where locks cannot be kept, it is said before the first grant. */
import { migrateMysql, mysqlStore } from 'holdfast/mysql';
import { createPool as mariadbPool } from 'mariadb';
import { createPool } from 'mysql2';
import { afterAll, describe, expect, test } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { startMariadb } from '../../servers/mariadb-server.ts';
import { until } from '../../support/until.ts';
import { expectOnlyLocks } from '../sql/hostile-names.ts';
import { PRODUCTS } from './fault-bed.ts';

const CLIENTS = ['mysql2', 'mariadb'] as const;

const FAILED = { code: 'STORE', retryable: false, outcome: 'failed' };

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  afterAll(() => server.close());
  const root = createPool(server.url.replace('mariadb:', 'mysql:'));

  test('without tables it names the command that makes them', async () => {
    const store = mysqlStore(root, { prefix: 'nobody_' });
    await expect(store.inspect('a')).rejects.toMatchObject({
      ...{ ...FAILED, message: expect.stringContaining('holdfast migrate') },
    });
    await store.close?.();
  });

  test('tables of a newer version are left alone', async () => {
    await migrateMysql(root, { prefix: 'newer_' });
    await server.query('update newer_store set layout = 3');
    const newer = { ...FAILED, message: expect.stringContaining('newer') };
    await expect(migrateMysql(root, { prefix: 'newer_' })).rejects.toMatchObject(newer);
    const store = mysqlStore(root, { prefix: 'newer_' });
    await expect(store.inspect('a')).rejects.toMatchObject(newer);
    await store.close?.();
  });

  test('a server that was made read-only grants nothing, not even to root', async () => {
    await migrateMysql(root);
    const store = mysqlStore(root);
    const [held, kept] = [claimOf('held'), claimOf('kept here')];
    await store.claim([held, kept]);
    await server.query('set global read_only = 1');
    const refused = { code: 'STORE', retryable: true, outcome: 'failed' };
    for (const ask of [
      () => store.claim([claimOf('a')]),
      () => store.claim([claimOf('a'), claimOf('b')]),
      () => store.renew([held]),
      () => store.release([held]),
      () => store.keep?.(kept, { text: '', ms: 1000 }),
    ]) {
      await expect(ask(), String(ask)).rejects.toMatchObject(refused);
    }
    await server.query('set global read_only = 0');
    await until('was it writable', async () =>
      store.claim([claimOf('b', { queue: false })]).then(
        ([status]) => status?.state === 'held',
        () => false,
      ),
    );
    await store.close?.();
  });

  test.each(CLIENTS)('%s: 500 hostile names are only names', async (name) => {
    const own = name === 'mysql2' ? root : mariadbPool(server.url.replace('mysql:', 'mariadb:'));
    await migrateMysql(root);
    // Quotes are no quotes and backslashes no escapes in some modes.
    await server.query(`set global sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'`);
    const store = mysqlStore(own);
    await expectOnlyLocks(store, `${name}: `);
    await server.query('set global sql_mode = default');
    expect(await server.query('select layout from holdfast_store')).toHaveLength(1);
    await store.close?.();
    if (own !== root) await own.end();
  });
});

test('a binary log of statements is refused by name', async () => {
  const server = await startMariadb({ binlog: true, config: ['--binlog-format=STATEMENT'] });
  const client = createPool(server.url.replace('mariadb:', 'mysql:'));
  await migrateMysql(client);
  const store = mysqlStore(client);
  const refused = { ...FAILED, message: expect.stringContaining('HOLDFAST_BINLOG') };
  await expect(store.claim([claimOf('a')])).rejects.toMatchObject(refused);
  await store.close?.();
  await server.close();
});
