/** Somebody has begun a transaction on a connection, and given it back to the pool like that. */
import { promisify } from 'node:util';
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2';
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { createLocks } from 'holdfast';
import { changeState, optimistic, type SqlDatabase } from 'holdfast/sql';
import { tableSchema, tableStore } from 'holdfast/table';
import { createPool as createMariadbPool } from 'mariadb';
import * as mariadbCallbacks from 'mariadb/callback';
import { createPool as createCallbackPool } from 'mysql2';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TcpProxy } from '../servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { PRODUCTS, standing, useClient, useServer } from './bed.ts';
import { numberLeft, on } from './clients.ts';

const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
afterAll(() => warned.mockRestore());

interface Pool {
  readonly db: SqlDatabase;
  /** Leaves its only connection so. */
  leave(...statements: string[]): Promise<void>;
  end(): Promise<unknown>;
}

type Lent = { query(sql: string): Promise<unknown>; release(): unknown };

/** `db` is what Holdfast is given of it. */
function pool(own: Pick<Pool, 'end'>, db: SqlDatabase, lend: () => Promise<Lent>): Pool {
  return {
    db,
    end: () => own.end(),
    async leave(...statements) {
      const one = await lend();
      for (const sql of statements) await one.query(sql).catch(() => {});
      await one.release();
    },
  };
}

const POOLS: Readonly<Record<string, Readonly<Record<string, (url: string) => Pool>>>> = {
  postgres: {
    pg(url) {
      const own = new pg.Pool({ connectionString: url, max: 1 });
      return pool(own, own, () => own.connect());
    },
    'Drizzle on pg'(url) {
      const own = new pg.Pool({ connectionString: url, max: 1 });
      return pool(own, drizzlePg(own), () => own.connect());
    },
  },
  mysql: {
    mysql2(url) {
      const own = createPool({ uri: url, connectionLimit: 1 });
      return pool(own, own, () => own.getConnection());
    },
    'mysql2 with callbacks'(url) {
      const own = createCallbackPool({ uri: url, connectionLimit: 1 });
      return pool(own.promise(), own, () => own.promise().getConnection());
    },
    mariadb(url) {
      const own = createMariadbPool(`${url.replace('mysql:', 'mariadb:')}?connectionLimit=1`);
      return pool(own, own, () => own.getConnection());
    },
    'mariadb with callbacks'(url) {
      const own = mariadbCallbacks.createPool(
        `${url.replace('mysql:', 'mariadb:')}?connectionLimit=1`,
      );
      const lend = promisify(own.getConnection.bind(own));
      return pool({ end: promisify(own.end.bind(own)) }, own, async () => {
        const one = (await lend()) as mariadbCallbacks.PoolConnection;
        const query = promisify<string, unknown>(one.query.bind(one));
        return { query, release: promisify(one.release.bind(one)) };
      });
    },
    'Drizzle on mysql2'(url) {
      const own = createPool({ uri: url, connectionLimit: 1 });
      return pool(own, drizzleMysql(own), () => own.getConnection());
    },
  },
};

/** Who waits for a row. */
const WAITING = {
  postgres: "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
  mysql: "SELECT id FROM information_schema.processlist WHERE state = 'updating'",
};

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  const other = useClient(product.plain, server);
  const { dialect } = product;
  beforeAll(() => on(other.db).count(tableSchema(dialect, 'left_open')));

  describe.each(Object.entries(POOLS[dialect] ?? {}))('%s', (_name, open) => {
    let mine: Pool;
    beforeAll(() => {
      mine = open(server.url);
    });
    afterAll(() => mine.end());

    const put = (id: string): Promise<number> =>
      on(other.db).count(
        dialect === 'postgres'
          ? 'INSERT INTO stock (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET n = 10'
          : 'INSERT INTO stock (id) VALUES (?) ON DUPLICATE KEY UPDATE n = 10',
        [id],
      );

    test.each([
      ['open', ['BEGIN', 'SELECT 1']],
      ['with a write', ['BEGIN', "UPDATE stock SET n = 3 WHERE id = 'other'"]],
      ['failed', ['BEGIN', 'SELECT * FROM nothing']],
    ])('%s: changeState tells what is committed', async (_how, statements) => {
      await put('a');
      await put('other');
      await mine.leave(...statements);
      const change = { table: 'stock', key: { id: 'a' }, from: { n: 10 }, to: { n: 9 } };
      expect(await changeState(mine.db, change)).toBe(true);
      expect(await numberLeft(other.db, 'a')).toBe(9);
      // What was left open is nobody's any more.
      expect(await numberLeft(other.db, 'other')).toBe(10);
      expect(await changeState(mine.db, change)).toBe(false);
    });

    test('optimistic tells what is committed', async () => {
      await put('a');
      await mine.leave('BEGIN');
      const row = { table: 'stock', key: { id: 'a' }, version: 'version' };
      await optimistic<{ n: number }>(mine.db, row, ({ n }) => ({ n: n - 1 }));
      expect(await numberLeft(other.db, 'a')).toBe(9);
    });

    test('a connection that breaks ends its statement, and not the process', async () => {
      await put('a');
      const url = new URL(server.url);
      const proxy = await TcpProxy.start(Number(url.port));
      url.port = String(proxy.port);
      const far = open(String(url));
      const change = { table: 'stock', key: { id: 'a' }, from: { n: 10 }, to: { n: 9 } };
      const holds = await standing(other, (tx) => changeState(tx, change));
      const waits = changeState(far.db, change).catch((error: unknown) => error);
      await until('it waits', async () => (await on(other.db).rows(WAITING[dialect])).length > 0);
      proxy.reset();
      expect(await waits).toMatchObject({ code: 'TRANSACTION', outcome: 'unknown' });
      await holds.release();
      await far.end();
      proxy.close();
    });

    test('a lock that is held is in the table', async () => {
      const locks = createLocks(tableStore(mine.db, { table: 'left_open' }));
      await mine.leave('BEGIN');
      const lease = await locks.mutex('a').acquire();
      const rows = await on(other.db).rows('SELECT name FROM left_open');
      expect(rows.length).toBeGreaterThan(0);
      await mine.leave('ROLLBACK');
      expect(
        await createLocks(tableStore(other.db, { table: 'left_open' }))
          .mutex('a')
          .tryAcquire(),
      ).toBeNull();
      await lease.release();
      await locks.close();
    });
  });

  test('the process was warned', () => {
    const codes = warned.mock.calls.map(([, options]) => (options as { code?: string })?.code);
    expect(codes).toContain('HOLDFAST_LEFT_OPEN');
  });
});
