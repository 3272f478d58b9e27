/**
 * What goes wrong in a database, provoked on real servers and told by every client: beside the
 * deadlocks of lines.test.ts.
 */
import { sqlFence } from 'holdfast/fence';
import { changeState, rowLock, type SqlTransaction, transactionLock } from 'holdfast/sql';
import { createConnection as createMariadb } from 'mariadb';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import postgres from 'postgres';
import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { PRODUCTS, standing, useClient, useServer } from './bed.ts';
import { on } from './clients.ts';

const table = 'stock';
const lock = (tx: SqlTransaction, id: string, wait: 'block' | 'nowait' = 'block') =>
  rowLock(tx, { table, key: { id }, wait });

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  const admin = useClient(product.plain, server);
  const postgres = product.dialect === 'postgres';

  describe.each(Object.entries(product.clients))('%s', (name, open) => {
    const client = useClient(open, server);
    beforeAll(() => client.transaction((tx) => lock(tx, 'a')));

    test('a snapshot that is too old', async () => {
      const work = client.transaction(async (tx) => {
        await on(tx).rows('SELECT n FROM stock');
        const change = { table, key: { id: 'a' }, from: { n: 10 }, to: { n: 9 } };
        await changeState(client.db, change);
        await changeState(client.db, { ...change, from: change.to, to: change.from });
        return postgres ? changeState(tx, change) : lock(tx, 'a');
      }, 'repeatable read');
      if (postgres) {
        await expect(work).rejects.toMatchObject({ reason: 'serialization', retryable: true });
      } else {
        // A locking read is of the present.
        await expect(work).resolves.toMatchObject({ n: 10 });
      }
    });

    if (postgres) {
      test('an aborted transaction', async () => {
        const fence = sqlFence({ dialect: 'postgres' });
        const lease = { resource: 'a', lineage: 'a', token: 1n };
        for (const use of [
          (tx: SqlTransaction) => lock(tx, 'a'),
          (tx: SqlTransaction) => transactionLock(tx, 'a'),
          (tx: SqlTransaction) => fence.enter(tx, lease),
        ]) {
          const seen: unknown[] = [];
          const work = client.transaction(async (tx) => {
            await on(tx)
              .rows('SELECT 1 / 0')
              .catch(() => {});
            await use(tx).catch((error: unknown) => seen.push(error));
            throw new Error('rolled back');
          });
          await expect(work).rejects.toThrow();
          expect(seen).toMatchObject([{ reason: 'aborted', retryable: false }]);
        }
      });
    }

    test.for([
      ['a statement that is cancelled', 'QUERY', 'cancelled'],
      ['a connection that is ended', 'CONNECTION', 'connection'],
    ] as const)('%s', async ([, what, reason], { skip }) => {
      const thrown = what === 'CONNECTION' && /postgres$/.test(name);
      skip(thrown, 'not promised: it itself throws where nobody can catch it');
      const holder = await standing(client, (tx) => lock(tx, 'a'));
      // What the client throws in the end may be about the rollback.
      let seen: unknown;
      const waiter = client.transaction(async (tx) => {
        const own = postgres ? 'pg_backend_pid()' : 'CONNECTION_ID()';
        const [me] = await on(tx).rows(`SELECT ${own} AS "id"`);
        const work = lock(tx, 'a').catch((error: unknown) => {
          seen = error;
          throw error;
        });
        await Promise.all([work, kill(what, Number(me?.id))]);
      });
      await expect(waiter).rejects.toThrow();
      await holder.release();
      expect(seen).toMatchObject({ reason, retryable: true, outcome: 'failed' });
    });

    /** Ends the statement or the connection of that session, once it waits for a row. */
    async function kill(what: 'QUERY' | 'CONNECTION', id: number): Promise<void> {
      // What MySQL shows of transactions is up to 100 ms old, and the connection was used before.
      await new Promise((resolve) => setTimeout(resolve, 150));
      const waiting = postgres
        ? `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = ${id}`
        : `SELECT 1 FROM information_schema.innodb_trx
           WHERE trx_state = 'LOCK WAIT' AND trx_mysql_thread_id = ${id}`;
      await until('waits', async () => (await on(admin.db).rows(waiting)).length > 0);
      const verb = what === 'QUERY' ? 'pg_cancel_backend' : 'pg_terminate_backend';
      if (postgres) await on(admin.db).rows(`SELECT ${verb}(${id})`);
      else await on(admin.db).count(`KILL ${what} ${id}`);
    }
  });
});

describe('a connection that is in no transaction is refused', () => {
  const [postgresql, mariadb, mysql] = PRODUCTS.map((product) => useServer(product));
  const key = { id: 'outside' };

  /** Refused without one, let in with one, whoever may or may not know it. */
  async function tried(connection: SqlTransaction, begin: string, end: string): Promise<void> {
    const dialect = begin === 'BEGIN' ? 'postgres' : 'mysql';
    const fence = sqlFence({ dialect });
    const outside = /No transaction was begun/;
    await expect(rowLock(connection, { table, key })).rejects.toThrow(outside);
    const lease = { resource: 'a', lineage: 'a', token: 1n };
    await expect(fence.enter(connection, lease)).rejects.toThrow(/No transaction .* A fence is/);
    expect(await on(connection).rows('SELECT id FROM stock')).toEqual([]);
    await on(connection).count(begin);
    expect(await rowLock(connection, { table, key })).toMatchObject(key);
    await on(connection).count(end);
    await expect(rowLock(connection, { table, key })).rejects.toThrow(outside);
  }

  test('pg', async () => {
    const client = new pg.Client({ connectionString: postgresql?.url });
    await client.connect();
    await tried(client, 'BEGIN', 'ROLLBACK');
    // As before 8.17, which does not know.
    Object.defineProperty(client, 'getTransactionStatus', { value: undefined });
    await tried(client, 'BEGIN', 'ROLLBACK');
    await client.end();
  });

  test('postgres, reserved', async () => {
    const sql = postgres(postgresql?.url ?? '', { max: 1 });
    const reserved = await sql.reserve();
    await tried(reserved as never, 'BEGIN', 'ROLLBACK');
    reserved.release();
    await sql.end();
  });

  test.each([
    ['MariaDB', mariadb],
    ['MySQL', mysql],
  ])('mysql2 and mariadb on %s', async (_, server) => {
    const uri = server?.url ?? '';
    const client = await createConnection({ uri });
    await tried(client, 'START TRANSACTION', 'ROLLBACK');
    // Without autocommit there is always one.
    await client.query('SET autocommit = 0');
    expect(await rowLock(client, { table, key })).toMatchObject(key);
    await client.end();
    const { hostname: host, port, pathname } = new URL(uri);
    const at = { host, port: Number(port), user: 'root', database: pathname.slice(1) };
    const other = await createMariadb({ ...at, allowPublicKeyRetrieval: true });
    await tried(other, 'START TRANSACTION', 'ROLLBACK');
    await other.end();
  });
});
