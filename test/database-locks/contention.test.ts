/** Many at once, at every isolation level that a lock is taken at: no change is lost. */
import type { TransactionError } from 'holdfast';
import { isRetryable, optimistic, rowLock } from 'holdfast/sql';
import { describe, expect, test } from 'vitest';
import { PRODUCTS, useClient, useServer } from './bed.ts';
import { LEVELS, numberLeft, on } from './clients.ts';

const WORKERS = 8;

type Stock = { readonly n: number };

function atOnce(work: (worker: number) => Promise<unknown>): Promise<unknown[]> {
  return Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
}

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  /** On PostgreSQL, snapshots.test.ts has the others: no lock is to be had there. */
  const levels = product.name === 'PostgreSQL' ? LEVELS.slice(0, 1) : LEVELS;
  const table = 'stock';
  const client = useClient(product.plain, server);

  /** Runs the whole transaction again where the error says that this may help; counts how often. */
  const retries = new Map<string, number>();
  async function again<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isRetryable(error)) throw error;
        // At COMMIT it is not for Holdfast to name it.
        const { reason = 'serialization' } = error as Partial<TransactionError>;
        retries.set(reason, (retries.get(reason) ?? 0) + 1);
      }
    }
  }

  test.each(levels)('a row that all make at once is one: %s', async (level) => {
    retries.clear();
    for (let round = 0; round < 10; round++) {
      const key = { id: `made at once: ${level} ${round}` };
      await atOnce(() =>
        again(() =>
          client.transaction(async (tx) => {
            const { n } = await rowLock<Stock>(tx, { table, key });
            await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [n - 1, key.id]);
          }, level),
        ),
      );
      expect(await numberLeft(client.db, key.id)).toBe(10 - WORKERS);
    }
    expect([...retries.keys()]).toEqual([]);
  });

  test.each(levels)('neighbours that are made at once are no deadlock: %s', async (level) => {
    retries.clear();
    await atOnce((worker) =>
      again(() =>
        client.transaction(async (tx) => {
          await rowLock(tx, { table, key: { id: `neighbour ${level} ${worker}` } });
        }, level),
      ),
    );
    expect([...retries.keys()]).not.toContain('deadlock');
  });

  test('changes by version lose none', async () => {
    const key = { id: 'sold by version' };
    await client.transaction((tx) => rowLock(tx, { table, key }));
    // Who fails once more was late behind one more of the others.
    const options = { table, key, version: 'version', attempts: WORKERS };
    await atOnce(() => optimistic<Stock>(client.db, options, ({ n }) => ({ n: n - 1 })));
    expect(await numberLeft(client.db, key.id)).toBe(10 - WORKERS);
  });
});
