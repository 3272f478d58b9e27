/**
 * Each line of the table "With which clients" of docs/guide/database-locks.md on PostgreSQL and
 * MariaDB, and every other client on every server: others want the row, hold it, deadlock, write
 * first; and COMMIT gets no answer.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeState, type LockWait, retrying, rowLock, type SqlTransaction } from 'holdfast/sql';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TcpProxy } from '../servers/tcp-proxy.ts';
import { gate } from '../support/gate.ts';
import { until } from '../support/until.ts';
import { PRODUCTS, standing, useClient, useServer } from './bed.ts';
import type { Client, Open } from './clients.ts';
import { MYSQL_CLIENTS, numberLeft, on, POSTGRES_CLIENTS } from './clients.ts';
import { fetchOrms, ORMS } from './orms.ts';

const fetched = await fetchOrms();

type Line = Partial<Record<Client['dialect'], (url: string) => Client | Promise<Client>>>;

function named<T>(all: Readonly<Record<string, T>>, name: string): T {
  const one = all[name];
  if (one === undefined) throw new Error(`there is no ${name}`);
  return one;
}
const onPostgres = (name: string): Line => ({ postgres: named<Open>(POSTGRES_CLIENTS, name) });
const onMysql = (name: string): Line => ({ mysql: named<Open>(MYSQL_CLIENTS, name) });
const orm = (name: string): Line => ({
  postgres: (url) => named(ORMS, name)(fetched, 'postgres', url),
  mysql: (url) => named(ORMS, name)(fetched, 'mysql', url),
});

/** As the page calls them, in its order. */
const LINES: Readonly<Record<string, Line>> = {
  '`pg`': onPostgres('pg'),
  '`postgres`': onPostgres('postgres'),
  '`mysql2`': onMysql('mysql2'),
  '`mariadb`': onMysql('mariadb'),
  Kysely: { ...onPostgres('Kysely on pg'), ...onMysql('Kysely on mysql2') },
  Drizzle: { ...onPostgres('Drizzle on pg'), ...onMysql('Drizzle on mysql2') },
  Prisma: orm('Prisma'),
  'Knex, Objection': orm('Knex'),
  TypeORM: orm('TypeORM'),
  Sequelize: orm('Sequelize'),
  MikroORM: orm('MikroORM'),
  // It runs in Bun alone: bun.test.ts.
  '`Bun.sql`': {},
};

test('the page has these lines', () => {
  const page = join(import.meta.dirname, '../../docs/guide/database-locks.md');
  const section = /^## With which clients\n\n([\s\S]*?)\n\n/m;
  const [, rows = ''] = section.exec(readFileSync(page, 'utf8')) ?? [];
  const names = rows
    .split('\n')
    .slice(2)
    .map((line) => line.split('|')[1]?.trim());
  expect(names).toEqual(Object.keys(LINES));
});

const table = 'stock';
const lock = (tx: SqlTransaction, id: string, wait: LockWait = 'block') =>
  rowLock(tx, { table, key: { id }, wait });

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  const { dialect } = product;
  const lines = Object.entries(LINES).flatMap(([name, { [dialect]: open }]) =>
    open && product.name !== 'MySQL' ? [{ name, open }] : [],
  );
  const others = Object.entries(product.clients)
    .map(([name, open]) => ({ name, open }))
    .filter(({ open }) => !lines.some((line) => line.open === open));

  describe.each([...lines, ...others])('$name', ({ name, open }) => {
    const client = useClient(open, server);
    const admin = useClient(product.plain, server);
    beforeAll(async () => {
      for (const id of ['a', 'b']) await admin.transaction((tx) => lock(tx, id));
    });
    beforeEach(() => on(admin.db).count('UPDATE stock SET n = 10'));

    test('five sell ten, each once', async () => {
      const sellOne = (): Promise<boolean> =>
        client.transaction(async (tx) => {
          const n = Number((await lock(tx, 'a')).n);
          if (n > 0) await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [n - 1, 'a']);
          return n > 0;
        });
      const sell = async (): Promise<number> => {
        let sold = 0;
        while (await sellOne()) sold += 1;
        return sold;
      };
      const sold = await Promise.all(Array.from({ length: 5 }, sell));
      expect(sold.reduce((sum, one) => sum + one)).toBe(10);
      expect(await numberLeft(admin.db, 'a')).toBe(0);
    });

    test('a row that another has is skipped, or waited for no longer than wanted', async () => {
      const holder = await standing(admin, (tx) => lock(tx, 'a'));
      expect(await client.transaction((tx) => lock(tx, 'a', 'skip'))).toBeNull();
      const late = { code: 'TRANSACTION', reason: 'lock-timeout', retryable: true };
      for (const wait of ['nowait', '1s'] as const) {
        const waits = client.transaction((tx) => lock(tx, 'a', wait));
        await expect(waits).rejects.toMatchObject(late);
      }
      await holder.release();
    });

    /** Two that run again until both are done, and why they had to: later, all gates are open. */
    async function both(
      work: (tx: SqlTransaction, me: 0 | 1, meet: () => Promise<void>) => Promise<unknown>,
      isolation?: 'serializable',
    ): Promise<unknown[]> {
      const here = [gate(), gate()] as const;
      const failures: unknown[] = [];
      const run = (me: 0 | 1) => {
        const meet = (): Promise<void> => {
          here[me].open();
          return here[me === 0 ? 1 : 0].opened;
        };
        return retrying(async () => {
          try {
            await client.transaction((tx) => work(tx, me, meet), isolation);
          } catch (error) {
            failures.push(error);
            throw error;
          }
        });
      };
      await Promise.all([run(0), run(1)]);
      return failures;
    }

    test('of two, a deadlock ends one, which runs again', async () => {
      const ids = ['a', 'b'] as const;
      const failures = await both(async (tx, me, meet) => {
        await lock(tx, ids[me]);
        await meet();
        await lock(tx, ids[me === 0 ? 1 : 0]);
      });
      const told = { code: 'TRANSACTION', reason: 'deadlock', retryable: true, outcome: 'failed' };
      expect(failures).not.toEqual([]);
      for (const each of failures) {
        expect(each).toMatchObject({ ...told, cause: expect.anything() });
      }
    });

    test('one that is not serializable runs again', async () => {
      const failures = await both(async (tx, _me, meet) => {
        const [row] = await on(tx).rows('SELECT n FROM stock WHERE id = ?', ['a']);
        await meet();
        await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [Number(row?.n) - 1, 'a']);
      }, 'serializable');
      expect(failures).not.toEqual([]);
      expect(await numberLeft(admin.db, 'a')).toBe(8);
    });

    test('one whose COMMIT was sent, and got no answer, does not', async ({ skip }) => {
      skip(/postgres`?$/.test(name), 'not promised: it itself throws where nobody can catch it');
      const url = new URL(server.url);
      const proxy = await TcpProxy.start(Number(url.port));
      url.port = String(proxy.port);
      const far = await open(String(url));
      let attempts = 0;
      let ended: string | undefined;
      const outcome = retrying(() => {
        attempts += 1;
        return far.transaction(async (tx) => {
          await changeState(tx, { table, key: { id: 'a' }, from: { n: 10 }, to: { n: 9 } });
          // What the server says from now on is lost: that it has committed.
          proxy.toClient.set({ flow: 'hold' });
        });
      })
        .catch((error: unknown) => error)
        .finally(() => {
          ended = 'the transaction has ended';
        });
      const isCommitted = async (): Promise<boolean> => (await numberLeft(admin.db, 'a')) === 9;
      await until('is committed', isCommitted, () => ended);
      proxy.reset();
      proxy.set();
      const unknown = { reason: 'connection', outcome: 'unknown', retryable: false };
      const cause = expect.anything();
      expect(await outcome).toMatchObject({ code: 'TRANSACTION', ...unknown, cause });
      expect(attempts).toBe(1);
      await far.close();
      proxy.close();
    });
  });
});
