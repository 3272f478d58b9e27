/** What a loss of data does to locks, and what is no loss. */
import { beforeEach, describe, expect, test } from 'vitest';
import { historyOf, STEADY } from '../../../src/stores/mysql/history.ts';
import { sleep } from '../../methods/faults/bed.ts';
import type { MysqlLogin, MysqlServer } from '../../servers/mysql-server.ts';
import { closing } from '../../support/closing.ts';
import { asked, type Caller, type Settings, World, worldOf } from './caller.ts';
import { PRODUCTS } from './fault-bed.ts';

const MINUTE_MS = 60_000;

/** Tables tell their age in seconds. */
const SECOND_MS = 1100;

// Servers start and stop, on a machine that may be busy.
const held = expect.stringMatching(/^h /);
const quarantined = expect.stringMatching(/^w .* data-loss \d+$/);

const TABLES = ['store', 'lock', 'news', 'kept'];

/** All that a server has written to its log. */
const WRITTEN = {
  MariaDB: 'select @@gtid_binlog_pos as written',
  MySQL: 'select @@global.gtid_executed as written',
} as const;

/** A line about a name that nobody has had. */
async function fresh(one: Caller, settings: Partial<Settings> = {}): Promise<string> {
  const [line] = await one.claim([asked(`fresh ${Math.random()}`)], settings);
  return line ?? '';
}

/** A program that has just begun, and is over with the test. */
function open(server: MysqlServer, login?: MysqlLogin): Caller {
  return closing(new World(server, login)).caller();
}

const once = (server: MysqlServer, settings: Partial<Settings> = {}): Promise<string> =>
  fresh(open(server), settings);

/** As a dump does that is put back: each table is dropped, and made anew from the copy. */
async function restore(server: MysqlServer, from: string, into: string): Promise<void> {
  const statements = TABLES.flatMap((table) => [
    `drop table if exists ${into}.holdfast_${table}`,
    `create table ${into}.holdfast_${table} like ${from}.holdfast_${table}`,
    `insert into ${into}.holdfast_${table} select * from ${from}.holdfast_${table}`,
  ]);
  await server.query(statements.join('; '));
}

describe.each(PRODUCTS)('%s', (product, start) => {
  async function ready(config: readonly string[] = []): Promise<MysqlServer> {
    const server = await start({ config });
    await (await new World(server).migrated()).close();
    return server;
  }

  test.each(['stop', 'kill'] as const)('after a %s, leases go on and nobody waits', async (end) => {
    const server = closing(await ready());
    const one = open(server);
    const lease = asked('kept');
    expect(await one.claim([lease])).toEqual([held]);
    await server[end]();
    await server.start();
    const other = open(server);
    expect(await other.renew([lease])).toEqual([held]);
    expect(await fresh(other)).toEqual(held);
  });

  test.each(['stop', 'kill'] as const)(
    'after a %s without commits on disk, all wait',
    async (end) => {
      const server = closing(await ready(['--innodb-flush-log-at-trx-commit=2']));
      expect(await once(server)).toEqual(held);
      await server[end]();
      await server.start();
      expect(await once(server)).toEqual(quarantined);
      // Also those that ask later, and are told nothing new.
      expect(await once(server)).toEqual(quarantined);
    },
  );

  test('when it started is always the same, but where two seconds meet', async () => {
    const server = closing(await ready());
    const [history, steady] = [historyOf('holdfast_store'), STEADY];
    const told = new Set<string>();
    // Two seconds meet twice, and hundreds of statements are between.
    for (const end = performance.now() + 2500; performance.now() < end; ) {
      const sql = `select ${history} as history, ${steady} as steady`;
      const [row] = await server.query<{ history: string; steady: number }>(sql);
      if (row?.steady === 1) told.add(row.history);
    }
    expect(told.size).toBe(1);
  });

  test('a server that wants primary keys and has no tables in memory will do', async () => {
    // MariaDB has neither.
    const strict = ['--sql-require-primary-key=ON', '--disabled-storage-engines=MEMORY'];
    const server = closing(await ready(product === 'MySQL' ? strict : []));
    const engines = `select distinct engine as e from information_schema.tables
      where table_schema = 'test'`;
    expect(await server.query(engines)).toEqual([{ e: 'InnoDB' }]);
    expect(await once(server)).toEqual(held);
    await server.restart();
    expect(await once(server)).toEqual(held);
  });

  test('a replica that restarts follows on, and writes nothing of its own', async () => {
    const primary = closing(await start({ binlog: true }));
    await (await new World(primary).migrated()).close();
    expect(await once(primary)).toEqual(held);
    const replica = closing(await primary.replica());
    await replica.inStep();
    await replica.restart();
    // Whoever looks at tables in memory first has them emptied, which is written to its log.
    for (const table of TABLES) await replica.query(`select * from holdfast_${table}`);
    await primary.restart();
    expect(await once(primary)).toEqual(held);
    await replica.inStep();
    const [after] = await primary.query<{ written: string }>(WRITTEN[product]);
    expect(await replica.query(WRITTEN[product])).toEqual([after]);
  });

  describe('of a copy', async () => {
    const server = await start();
    const world = await worldOf(server);
    const before = world.caller();
    const lost = asked('lost');
    await fresh(before);
    await server.query('create database backup; create database elsewhere');
    await restore(server, 'test', 'backup');

    test('that is put back into its own place, all wait who had granted', async () => {
      expect(await before.claim([lost])).toEqual([held]);
      await sleep(SECOND_MS);
      await restore(server, 'backup', 'test');
      // A session of before looks again after a second.
      await sleep(SECOND_MS);
      expect(await fresh(before)).toEqual(quarantined);
      expect(await before.renew([lost])).toEqual(['g store-reset ']);
      expect(await once(server)).toEqual(quarantined);
    });

    test('that is put back into its own place, all wait who come', async () => {
      await sleep(SECOND_MS);
      await restore(server, 'backup', 'test');
      expect(await once(server)).toEqual(quarantined);
    });

    test('that is put into another place, all wait there', async () => {
      const place = { database: 'elsewhere' };
      await (await new World(server, place).migrated()).close();
      await restore(server, 'backup', 'elsewhere');
      const there = open(server, place);
      expect(await fresh(there, { trust: true })).toEqual(held);
      expect(await fresh(there)).toEqual(quarantined);
    });
  });

  describe('after a restart', async () => {
    const server = await start();
    const world = await worldOf(server);
    const one = world.caller();
    beforeEach(async () => {
      await server.query('set global innodb_flush_log_at_trx_commit = 1');
      await server.query('update holdfast_store set open_at = 0, max_ttl = 0, fast = 0');
      await fresh(one);
    });

    const notWaitFor = (disk: boolean) =>
      server.query(`set global innodb_flush_log_at_trx_commit = ${disk ? 1 : 2}`);
    const restart = () =>
      server.query(`update holdfast_store
        set history = concat(1, substring(history, locate(' ', history)))`);

    test('all wait for the longest claim where one was not', async () => {
      await fresh(one, { maxTtl: MINUTE_MS });
      await notWaitFor(false);
      await fresh(one, { maxTtl: 1000 });
      await notWaitFor(true);
      await restart();
      const line = await fresh(one, { maxTtl: 1000 });
      expect(line).toEqual(quarantined);
      expect(Number(line.split(' ').at(-1))).toBeGreaterThan(MINUTE_MS / 2);
      // Also who knows of it by now.
      expect(await fresh(one, { maxTtl: 1000 })).toEqual(quarantined);
      world.step(MINUTE_MS);
      expect(await fresh(one, { maxTtl: 1000 })).toEqual(held);
    });

    test('all wait where commits are not waited for now: that they were is not known', async () => {
      await notWaitFor(false);
      await restart();
      expect(await fresh(one)).toEqual(quarantined);
    });

    test('whoever trusted and waited before the loss is let in, and no other', async () => {
      const [a, b, c, other] = [asked('a'), asked('a'), asked('a'), asked('a')];
      for (const each of [a, b, c]) await one.claim([each], { trust: true });
      await one.claim([other]);
      await notWaitFor(false);
      await restart();
      for (const [own, next] of [[a, b] as const, [b, c] as const]) {
        await one.release([own]);
        expect(await one.renew([next])).toEqual([held]);
      }
      await one.release([c]);
      expect(await one.renew([other])).toEqual([quarantined]);
    });
  });
});
