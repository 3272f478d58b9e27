/** Every function with every client, on the servers that it is for. */
import { sqlFence } from 'holdfast/fence';
import { changeState, optimistic, rowLock, transactionLock } from 'holdfast/sql';
import { describe, expect, test } from 'vitest';
import { PRODUCTS, soon, standing, useClient, useServer } from './bed.ts';
import { numberLeft, on } from './clients.ts';

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);

  describe.each(Object.entries(product.clients))('%s', (name, open) => {
    const client = useClient(open, server);
    const table = 'stock';
    const keyOf = (id: string) => ({ id: `${name}: ${id}` });

    /** Locks a row in a transaction of its own. */
    const lock = (key: { id: string }, more: object = {}) =>
      client.transaction((tx) => rowLock(tx, { table, key, ...more }));
    /** A row that is locked until it is released. */
    const locked = (id: string, mode: 'update' | 'share' = 'update') =>
      standing(client, (tx) => rowLock(tx, { table, key: keyOf(id), mode }));

    test('rowLock makes the row, and answers it as it is', async () => {
      const key = keyOf('new');
      expect(await lock(key, { insert: { n: 3 } })).toMatchObject({ ...key, n: 3, state: 0 });
      expect(await lock(key, { insert: { n: 5 } })).toMatchObject({ ...key, n: 3 });
      expect(await lock(key, { mode: 'share' })).toMatchObject({ ...key, n: 3 });
    });

    test('rowLock waits for whoever has the row, or not, or not for long', async () => {
      const key = keyOf('taken');
      const other = await locked('taken');
      const skipped = lock(key, { wait: 'skip' });
      // It is only just being made, which is waited for.
      expect(await soon(skipped)).toBe(client.dialect === 'postgres' ? 'waits' : null);
      await other.release();
      await skipped;
      const again = await locked('taken');
      for (const insert of [true, false]) {
        expect(await lock(key, { insert, wait: 'skip' })).toBeNull();
        const late = { code: 'TRANSACTION', reason: 'lock-timeout', retryable: true };
        for (const wait of ['nowait', 0, '1s'] as const) {
          await expect(lock(key, { insert, wait })).rejects.toMatchObject(late);
        }
      }
      const next = lock(key);
      expect(await soon(next)).toBe('waits');
      await again.release();
      expect(await next).toMatchObject(key);
    });

    test('after skipping, the transaction goes on', async () => {
      const key = keyOf('skipped');
      await lock(key);
      const other = await locked('skipped');
      await client.transaction(async (tx) => {
        expect(await rowLock(tx, { table, key, wait: 'skip' })).toBeNull();
        expect(await rowLock(tx, { table, key: keyOf('free'), wait: 'skip' })).not.toBeNull();
        await on(tx).count('UPDATE stock SET n = 7 WHERE id = ?', [keyOf('free').id]);
      });
      await other.release();
      expect(await numberLeft(client.db, keyOf('free').id)).toBe(7);
    });

    test('a time-out holds for the lock alone', async () => {
      const setting =
        client.dialect === 'postgres'
          ? "SELECT current_setting('lock_timeout') AS setting"
          : 'SELECT @@SESSION.innodb_lock_wait_timeout AS setting';
      await client.transaction(async (tx) => {
        const before = await on(tx).rows(setting);
        await rowLock(tx, { table, key: keyOf('timed'), wait: '3s' });
        expect(await on(tx).rows(setting)).toEqual(before);
      });
    });

    test('those who share are together, and nobody else is with them', async () => {
      const key = keyOf('shared');
      await lock(key);
      const one = await locked('shared', 'share');
      const two = await locked('shared', 'share');
      await expect(lock(key, { wait: 'nowait' })).rejects.toMatchObject({ reason: 'lock-timeout' });
      await one.release();
      await two.release();
      const writer = await locked('shared');
      const read = lock(key, { mode: 'share', wait: 'nowait' });
      await expect(read).rejects.toMatchObject({ reason: 'lock-timeout' });
      expect(await lock(key, { mode: 'share', wait: 'skip' })).toBeNull();
      await writer.release();
    });

    test('a row that is missing and not to be made is an error', async () => {
      const key = keyOf('missing');
      const missing = lock(key, { insert: false });
      await expect(missing).rejects.toMatchObject({ reason: 'missing', retryable: false });
      expect(await lock(key, { insert: false, wait: 'skip' })).toBeNull();
      const change = optimistic(client.db, { table, key, ...VERSION }, () => ({ n: 1 }));
      await expect(change).rejects.toMatchObject({ reason: 'missing' });
    });

    test('changeState tells one that it did', async () => {
      const key = keyOf('state');
      await lock(key);
      const [from, to] = [
        { state: 0, seller: null },
        { state: 1, seller: name },
      ];
      const all = Array.from({ length: 8 }, () => changeState(client.db, { table, key, from, to }));
      expect((await Promise.all(all)).filter(Boolean)).toHaveLength(1);
      const back = { table, key, from: to, to: from };
      expect(await client.transaction((tx) => changeState(tx, back))).toBe(true);
      expect(await client.transaction((tx) => changeState(tx, back))).toBe(false);
      expect(await changeState(client.db, { table, key: keyOf('none'), from, to })).toBe(false);
    });

    test('optimistic', async () => {
      const key = keyOf('optimistic');
      await lock(key);
      const options = { table, key, ...VERSION };
      const sell = ({ n }: { n: number }) => ({ n: n - 1 });
      // Whoever is disturbed in the first attempt changes what was left by whoever disturbed it.
      let disturbed = 0;
      const result = await optimistic<{ n: number }>(client.db, options, async (row) => {
        if (disturbed++ === 0) await optimistic(client.db, options, sell);
        return sell(row);
      });
      expect(result).toMatchObject({ changed: true, attempts: 2, before: { n: 9 } });
      expect(await numberLeft(client.db, key.id)).toBe(8);
      const kept = await optimistic(client.db, options, () => undefined);
      expect(kept).toMatchObject({ changed: false, attempts: 1, before: { n: 8 } });
      expect(Object.keys(kept.before)).not.toContainEqual(expect.stringMatching(/holdfast/));
    });

    test('optimistic gives up, at once in a transaction', async () => {
      const key = keyOf('conflict');
      await lock(key);
      const options = { table, key, ...VERSION };
      const disturb = async () => {
        await optimistic(client.db, options, () => ({ n: 5 }));
        return { n: 6 };
      };
      const all = optimistic(client.db, { ...options, attempts: 3 }, disturb);
      await expect(all).rejects.toMatchObject({ code: 'CONFLICT', attempts: 3 });
      const inside = client.transaction((tx) => optimistic(tx, options, disturb));
      await expect(inside).rejects.toMatchObject({ code: 'CONFLICT', attempts: 1 });
      expect(await numberLeft(client.db, key.id)).toBe(5);
    });

    test('optimistic ends with its signal', async () => {
      const key = keyOf('aborted');
      await lock(key);
      const abort = new AbortController();
      const reason = new Error('enough');
      const options = { table, key, ...VERSION, signal: abort.signal };
      const work = optimistic(client.db, options, () => {
        abort.abort(reason);
        return { n: 0 };
      });
      await expect(work).rejects.toBe(reason);
      expect(await numberLeft(client.db, key.id)).toBe(10);
    });

    test('transactionLock', async () => {
      if (client.dialect === 'mysql') {
        const lock = client.transaction((tx) => transactionLock(tx, 'x'));
        await expect(lock).rejects.toMatchObject({
          code: 'UNSUPPORTED',
          message: expect.stringMatching(/rowLock/),
        });
        return;
      }
      const holder = await standing(client, async (tx) => {
        expect(await transactionLock(tx, name)).toBe(true);
      });
      await client.transaction(async (tx) => {
        expect(await transactionLock(tx, name, { wait: 'skip' })).toBe(false);
        expect(await transactionLock(tx, name, { wait: 'skip', namespace: 'b' })).toBe(true);
        expect(await transactionLock(tx, `${name}\0`, { wait: 'skip' })).toBe(true);
      });
      for (const wait of ['nowait', 50] as const) {
        const refused = client.transaction((tx) => transactionLock(tx, name, { wait }));
        await expect(refused).rejects.toMatchObject({ reason: 'lock-timeout' });
      }
      await holder.release();
      await client.transaction(async (tx) => {
        await transactionLock(tx, name, { shared: true });
        await client.transaction((other) => transactionLock(other, name, { shared: true }));
      });
    });

    test('a lock is for transactions only', async () => {
      const pool = client.db as Parameters<typeof rowLock>[0];
      expect(() => rowLock(pool, { table, key: keyOf('outside') })).toThrow(/not a pool/);
      expect(() => transactionLock(pool, 'x')).toThrow(/not a pool/);
      const fence = sqlFence({ dialect: client.dialect });
      const lease = { resource: 'stock', lineage: 'one', token: 1n };
      await expect(fence.enter(pool, lease)).rejects.toThrow(/not a pool\. A fence is entered/);
    });
  });
});

const VERSION = { version: 'version' };
