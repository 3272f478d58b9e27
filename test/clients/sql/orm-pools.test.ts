/** Stores that are given an ORM instead of a pool, on PostgreSQL and MariaDB. */
import { createLocks } from 'holdfast';
import { type MysqlClient, migrateMysql, mysqlStore } from 'holdfast/mysql';
import { migratePostgres, type PostgresClient, postgresStore } from 'holdfast/postgres';
import type { SqlDatabase } from 'holdfast/sql';
import { tableStore } from 'holdfast/table';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRODUCTS, useServer } from '../../database-locks/bed.ts';
import { fetchOrms, ORMS, type Orm, ormsOn } from '../../database-locks/orms.ts';
import { allEnd } from '../../methods/processes/finished.ts';
import { until } from '../../support/until.ts';

const fetched = await fetchOrms();
const USAGE = expect.objectContaining({ code: 'USAGE' });

const ON = {
  postgres: {
    migrate: (client: unknown) => migratePostgres(client as PostgresClient),
    store: (client: unknown) => postgresStore(client as PostgresClient),
  },
  mysql: {
    migrate: (client: unknown) => migrateMysql(client as MysqlClient),
    store: (client: unknown) => mysqlStore(client as MysqlClient),
  },
};

describe.each(PRODUCTS.filter(({ name }) => name !== 'MySQL'))('$name', (product) => {
  const server = useServer(product);
  const dialect = product.name === 'PostgreSQL' ? 'postgres' : 'mysql';
  const { migrate, store } = ON[dialect];
  const another = ON[dialect === 'postgres' ? 'mysql' : 'postgres'];

  /** Two programs hold and wait in turn. */
  async function locksWith(client: unknown): Promise<void> {
    await migrate(client);
    const [mine, theirs] = [createLocks(store(client)), createLocks(store(client))];
    const lease = await mine.mutex('a').acquire({ wait: '20s' });
    const waits = theirs.mutex('a').run({ wait: '20s' }, () => 'ran');
    await lease.release();
    expect(await waits).toBe('ran');
    await mine.close();
    await theirs.close();
  }

  const knexWith = (connection: unknown, max = 2) =>
    fetched('knex')({
      ...{ client: dialect === 'postgres' ? 'pg' : 'mysql2', connection },
      pool: { min: 0, max },
    });

  describe.each(ormsOn(dialect).filter(([name]) => name !== 'Prisma'))('%s', (_name, open) => {
    let orm: Orm;
    beforeAll(async () => {
      orm = await open(fetched, dialect, server.url);
    });
    afterAll(() => orm?.close());

    test('has a pool that stores connect like', () => locksWith(orm.pool));

    test('is refused in a transaction, and by the store of another database', async () => {
      await orm.transaction(async (tx) => {
        expect(() => store(tx)).toThrow(USAGE);
      });
      expect(() => another.store(orm.pool)).toThrow(USAGE);
    });
  });

  test('a program ends that has ended its own pool', async () => {
    const knex = knexWith(server.url);
    await migrate(knex);
    await knex.destroy();
    // One of those that lend a connection; the pools of the others are of client packages.
    const client = dialect === 'postgres' ? 'Knex' : 'Sequelize';
    await allEnd({ url: server.url, client, modules: fetched.resolve('knex') });
  });

  test('what a program has set for its own queries is its own', async () => {
    const { hostname: host, port, username: user, pathname } = new URL(server.url);
    const place = { host, port: Number(port), user, database: pathname.slice(1) };
    const habits =
      dialect === 'postgres'
        ? {
            // Knex reads the version of the server, which is a text.
            types: {
              getTypeParser: (oid: number) => (text: string) => (oid === 25 ? text : 'parsed'),
            },
          }
        : {
            ...{ dateStrings: true, decimalNumbers: true, timezone: '+05:00', rowsAsArray: true },
            ...{ supportBigNumbers: true, bigNumberStrings: true, multipleStatements: false },
            ...{ flags: ['-FOUND_ROWS'], typeCast: () => 'cast' },
          };
    const knex = knexWith({ ...place, ...habits });
    await locksWith(knex);
    await knex.destroy();
  });

  test('a pool that lends none: it is said at once, and locks go on when it does', async () => {
    const knex = knexWith(server.url, 1);
    await migrate(knex);
    const trx = await knex.transaction();
    const waiting = store(knex);
    const message = expect.stringContaining('The pool of Knex has lent out all its connections');
    const failed = { code: 'STORE', retryable: true, outcome: 'failed', message };
    await expect(waiting.inspect('b')).rejects.toMatchObject(failed);
    await trx.rollback();
    await until('was one lent', async () => (await waiting.inspect('b')).holders.length === 0);
    await waiting.close?.();
    await knex.destroy();
  });

  test('Prisma shows no pool, and is told what to give', async () => {
    const prisma = await ORMS.Prisma?.(fetched, dialect, server.url);
    expect(() => store(prisma?.db)).toThrow(/that Kysely, Drizzle or Prisma was given/);
    await prisma?.close();
  });
});

test('nor does Kysely, or a DataSource that is not initialized', () => {
  const { postgres } = ON;
  const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });
  expect(() => postgres.store(kysely)).toThrow(/that Kysely, Drizzle or Prisma was given/);
  const { DataSource } = fetched('typeorm');
  const source = new DataSource({ type: 'postgres', url: 'postgres://localhost/none' });
  expect(() => postgres.store(source)).toThrow(/an initialized DataSource/);
});

test('a store that sends statements through its client takes no ORM', () => {
  const knex = fetched('knex')({ client: 'pg', connection: 'postgres://localhost/none' });
  const refused = /Of Knex, give the transaction; outside of one, a pool of pg/;
  expect(() => tableStore(knex as SqlDatabase)).toThrow(refused);
});
