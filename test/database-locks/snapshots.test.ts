/** What is read under a lock, or behind a fence, is at least as new as the lock. */
import { sqlFence } from 'holdfast/fence';
import { type LockWait, rowLock, type SqlTransaction, transactionLock } from 'holdfast/sql';
import { beforeAll, describe, expect, test } from 'vitest';
import { PRODUCTS, standing, useClient, useServer } from './bed.ts';
import { type Client, LEVELS, on } from './clients.ts';

const WORKERS = 5;

type Take = (tx: SqlTransaction, wait: LockWait) => Promise<unknown>;

const table = 'stock';
const key = { id: 'the lock' };
const LOCKS: Readonly<Record<string, Take>> = {
  'a row that is there': (tx, wait) => rowLock(tx, { table, key, wait, insert: false }),
  'a row that may be missing': (tx, wait) => rowLock(tx, { table, key, wait }),
  'a name': (tx, wait) => transactionLock(tx, key.id, { wait }),
};

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  const client = useClient(product.plain, server);
  const postgres = product.dialect === 'postgres';
  const locks = Object.keys(LOCKS).filter((what) => postgres || what !== 'a name');
  beforeAll(async () => {
    await on(client.db).count(sqlFence({ dialect: client.dialect }).schema);
    await on(client.db).count("INSERT INTO stock (id) VALUES ('the lock')");
  });

  async function entered(db: Client['db'], by: string): Promise<number> {
    const sql = 'SELECT COUNT(*) AS n FROM stock WHERE seller = ?';
    const [row] = await on(db).rows(sql, [by]);
    return Number(row?.n);
  }

  /** Where these locks are to be had, and where not. */
  const [safe, refused] = postgres ? [LEVELS.slice(0, 1), LEVELS.slice(1)] : [LEVELS, []];
  describe.each(locks)('under %s', (what) => {
    const take = LOCKS[what] as Take;

    test.each(
      safe.flatMap((level) => (['block', '5s'] as const).map((wait) => [level, wait] as const)),
    )('one of all inserts what nobody has: %s, %s', async (level, wait) => {
      const seller = `${what} ${level} ${wait}`;
      const insert = (worker: number): Promise<void> =>
        client.transaction(async (tx) => {
          await take(tx, wait);
          if ((await entered(tx, seller)) > 0) return;
          const row = 'INSERT INTO stock (id, seller) VALUES (?, ?)';
          await on(tx).count(row, [`${seller} ${worker}`, seller]);
        }, level);
      await Promise.all(Array.from({ length: WORKERS }, (_, worker) => insert(worker)));
      expect(await entered(client.db, seller)).toBe(1);
    });

    test.each(refused)('nobody is let in: %s', async (level) => {
      const holder = await standing(client, (tx) => take(tx, 'block'));
      // Nor waits: the holder goes only when all have been refused.
      for (const wait of ['block', '5s', 'nowait', 'skip'] as const) {
        await expect(client.transaction((tx) => take(tx, wait), level)).rejects.toMatchObject({
          code: 'USAGE',
          message: expect.stringContaining(`is ${level.toUpperCase()}: `),
        });
      }
      await holder.release();
      // Nor is a row made.
      const make = (tx: SqlTransaction) => rowLock(tx, { table, key: { id: 'never made' } });
      for (const late of [(tx: SqlTransaction) => take(tx, 'block'), make]) {
        await expect(client.transaction(late, level)).rejects.toMatchObject({ code: 'USAGE' });
      }
    });
  });

  const cases = refused.flatMap((level) =>
    (['mutex', 'read'] as const).flatMap((kind) =>
      [true, false].map((known) => [level, kind, known] as const),
    ),
  );
  test.each(cases)(
    'an old snapshot does not pass the fence: %s, %s, known: %s',
    async (...each) => {
      const [level, kind, known] = each;
      const fence = sqlFence({ dialect: 'postgres' });
      const lease = { resource: each.join(' '), lineage: 'one', token: 7n };
      const enter = (): Promise<void> => client.transaction((tx) => fence.enter(tx, lease));
      if (known) await enter();
      const work = client.transaction(async (tx) => {
        await on(tx).rows('SELECT n FROM stock');
        // What was written behind this entry is not in the snapshot.
        await enter();
        await fence.enter(tx, { ...lease, token: 8n, kind });
      }, level);
      await expect(work).rejects.toMatchObject({ reason: 'serialization', retryable: true });
    },
  );
});
