/** Many at once, at every isolation level that a lock is taken at: nothing is sold twice. */
import type { TransactionError } from 'holdfast';
import { changeState, isRetryable, optimistic, rowLock, transactionLock } from 'holdfast/sql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRODUCTS, useServer } from './bed.ts';
import { type Client, type Isolation, numberLeft, on } from './clients.ts';

const WORKERS = 8;
const ALL_LEVELS: readonly Isolation[] = ['read committed', 'repeatable read', 'serializable'];

interface Stock {
  readonly n: number;
}

function atOnce(work: (worker: number) => Promise<unknown>): Promise<unknown[]> {
  return Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
}

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  /** On PostgreSQL, snapshots.test.ts has the others: no lock is to be had there. */
  const LEVELS = product.name === 'PostgreSQL' ? ALL_LEVELS.slice(0, 1) : ALL_LEVELS;
  const table = 'stock';
  let client: Client;
  beforeAll(() => {
    client = product.plain(server.url);
  });
  afterAll(() => client.close());

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

  test.each(LEVELS)('a row that all make at once is one: %s', async (level) => {
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

  test.each(LEVELS)('neighbours that are made at once are no deadlock: %s', async (level) => {
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

  test.each(LEVELS)('rows under a lock are not oversold: %s', async (level) => {
    const key = { id: `sold under a lock: ${level}` };
    let sold = 0;
    await atOnce(async () => {
      for (let more = true; more; ) {
        const bought = await again(() =>
          client.transaction(async (tx) => {
            const { n } = await rowLock<Stock>(tx, { table, key });
            if (n === 0) return false;
            await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [n - 1, key.id]);
            return true;
          }, level),
        );
        more = bought;
        if (bought) sold++;
      }
    });
    expect(sold).toBe(10);
    expect(await numberLeft(client.db, key.id)).toBe(0);
  });

  test('by a version', async () => {
    const key = { id: 'sold by version' };
    await client.transaction((tx) => rowLock(tx, { table, key }));
    let sold = 0;
    let attempts = 0;
    await atOnce(async () => {
      for (let more = true; more; ) {
        const options = { table, key, version: 'version', attempts: 1000 };
        const result = await optimistic<Stock>(client.db, options, ({ n }) =>
          n === 0 ? undefined : { n: n - 1 },
        );
        more = result.changed;
        attempts += result.attempts;
        if (result.changed) sold++;
      }
    });
    expect(sold).toBe(10);
    expect(await numberLeft(client.db, key.id)).toBe(0);
    // Or nobody was in anybody's way, and this has shown nothing.
    expect(attempts).toBeGreaterThan(sold + WORKERS);
  });

  test('states are changed by one each', async () => {
    const seats = Array.from({ length: 10 }, (_, n) => ({ id: `seat ${n}` }));
    for (const key of seats) await client.transaction((tx) => rowLock(tx, { table, key }));
    const taken = await atOnce(async (worker) => {
      let mine = 0;
      for (const key of seats) {
        const to = { state: 1, seller: `${worker}` };
        if (await changeState(client.db, { table, key, from: { state: 0 }, to })) mine++;
      }
      return mine;
    });
    expect((taken as number[]).reduce((sum, mine) => sum + mine, 0)).toBe(seats.length);
  });

  test('names exclude each other', async () => {
    if (client.dialect === 'mysql') return;
    const key = { id: 'sold by name' };
    await client.transaction((tx) => rowLock(tx, { table, key }));
    await atOnce(() =>
      client.transaction(async (tx) => {
        await transactionLock(tx, key.id);
        const n = await numberLeft(tx, key.id);
        await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [n - 1, key.id]);
      }),
    );
    expect(await numberLeft(client.db, key.id)).toBe(10 - WORKERS);
  });
});
