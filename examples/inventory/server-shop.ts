/** The stock in PostgreSQL, MySQL or MariaDB, by Kysely; the locks are those of `holdfast/sql`. */
import type { Lease } from 'holdfast';
import { sqlFence } from 'holdfast/fence';
import { optimistic, rowLock } from 'holdfast/sql';
import { Kysely, MysqlDialect, PostgresDialect, sql, type Transaction } from 'kysely';
import { createPool } from 'mysql2';
import pg from 'pg';
import type { Shop } from './shop.ts';

interface Tables {
  holdfast_example_stock: { id: number; n: number; version: number };
}

const table = 'holdfast_example_stock';
const fenceTable = 'holdfast_example_fence';
const row = { table, key: { id: 1 } };

/** A version column is for rows that few want at a time; here all want the same. */
const ATTEMPTS = 1000;

export async function openServerShop(url: string): Promise<Shop> {
  const isPostgres = url.startsWith('postgres');
  const db = new Kysely<Tables>({
    dialect: isPostgres
      ? new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 2 }) })
      : new MysqlDialect({ pool: createPool(url.replace(/^mariadb:/, 'mysql:')) }),
  });
  const fence = sqlFence({ dialect: isPostgres ? 'postgres' : 'mysql', table: fenceTable });

  type Connection = Kysely<Tables> | Transaction<Tables>;

  async function update(connection: Connection, left: number): Promise<void> {
    await connection.updateTable(table).set({ n: left }).where('id', '=', 1).execute();
  }

  async function read(connection: Connection): Promise<number> {
    const found = await connection.selectFrom(table).select('n').executeTakeFirstOrThrow();
    return found.n;
  }

  /** Without a lease, each statement is on its own. */
  async function fenced<T>(
    lease: Lease | undefined,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    if (!lease) return await work(db);
    return await db.transaction().execute(async (tx) => {
      await fence.enter(tx, lease);
      return await work(tx);
    });
  }

  return {
    read: (lease) => fenced(lease, read),
    write: (left, lease) => fenced(lease, (connection) => update(connection, left)),

    sellLocked: (think) =>
      db.transaction().execute(async (tx) => {
        const { n } = await rowLock<{ n: number }>(tx, { ...row, insert: false });
        if (n === 0) return false;
        await think();
        await update(tx, n - 1);
        return true;
      }),

    async sellVersioned(think) {
      const options = { ...row, version: 'version', attempts: ATTEMPTS };
      const { changed } = await optimistic<{ n: number }>(db, options, async ({ n }) => {
        if (n === 0) return undefined;
        await think();
        return { n: n - 1 };
      });
      return changed;
    },

    async fill(items) {
      await sql.raw(fence.schema).execute(db);
      await sql
        .raw(`CREATE TABLE IF NOT EXISTS ${table}
          (id integer PRIMARY KEY, n integer NOT NULL, version bigint NOT NULL)`)
        .execute(db);
      await db.deleteFrom(table).execute();
      await db.insertInto(table).values({ id: 1, n: items, version: 0 }).execute();
    },

    async close(options) {
      if (options?.forEver) {
        for (const each of [table, fenceTable]) await db.schema.dropTable(each).execute();
      }
      await db.destroy();
    },
  };
}
