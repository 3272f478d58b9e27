/** Fences on servers, with every client. */
import { isLockError } from 'holdfast';
import { type EnterToken, sqlFence } from 'holdfast/fence';
import { isRetryable } from 'holdfast/sql';
import { beforeAll, describe, expect, test } from 'vitest';
import { PRODUCTS, useClient, useServer } from './bed.ts';
import { type Isolation, LEVELS, numberLeft, on } from './clients.ts';

const ALL = [undefined, ...LEVELS];

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  const plain = useClient(product.plain, server);
  const fence = sqlFence({ dialect: product.dialect });
  beforeAll(async () => {
    await on(plain.db).count(fence.schema);
    // It may be there already.
    await on(plain.db).count(fence.schema);
  });

  describe.each(Object.entries(product.clients))('%s', (name, open) => {
    const client = useClient(open, server);

    const at = (resource: string) => ({ resource: `${name}: ${resource}`, lineage: 'one' });
    function enter(lease: EnterToken, level?: Isolation): Promise<void> {
      return client.transaction((tx) => fence.enter(tx, lease), level);
    }

    test.each(ALL)('the newest holder passes, an older one never again: %s', async (level) => {
      const stock = at(`stock ${level}`);
      await enter({ ...stock, token: 33n }, level);
      await enter({ ...stock, token: 33n }, level);
      await enter({ ...stock, token: '34' }, level);
      await expect(enter({ ...stock, token: 33n }, level)).rejects.toMatchObject({
        ...{ code: 'STALE_TOKEN', resource: stock.resource, token: 33n, seen: 34n },
      });
      await enter({ ...stock, token: 34n }, level);
    });

    test('resources are told apart byte by byte', async () => {
      const names = ['a', 'A', 'ä', 'a ', 'a\0', 'a\0b', 'a\u0001', 'a\u00010', "a'", 'a"', 'a\\'];
      for (const each of names) await enter({ ...at(each), token: 5n });
      for (const each of names) {
        await expect(enter({ ...at(each), token: 4n })).rejects.toMatchObject({ seen: 5n });
      }
      const long = { resource: 'ß'.repeat(320), lineage: '€'.repeat(170), token: 7n };
      await enter(long);
      await expect(enter({ ...long, token: 6n })).rejects.toMatchObject({ seen: 7n });
    });

    test('another lineage is refused until an operator adopts it', async () => {
      const [one, two] = [at('moved'), { ...at('moved'), lineage: 'two\0' }];
      await enter({ ...one, token: 34n });
      await expect(enter({ ...two, token: 99n })).rejects.toThrow(/another store, one;/);
      await client.transaction((tx) => fence.adopt(tx, { ...two, token: 1n }));
      await enter({ ...two, token: 1n });
      await expect(enter({ ...one, token: 99n })).rejects.toThrow(/another store, two\0;/);
      const reader = enter({ ...one, token: 99n, kind: 'read' });
      await expect(reader).rejects.toMatchObject({ code: 'STALE_TOKEN' });
    });

    test('what a transaction raised is undone with it', async () => {
      const undone = client.transaction(async (tx) => {
        await fence.enter(tx, { ...at('undone'), token: 34n });
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      await enter({ ...at('undone'), token: 33n });
    });

    test('a table that is missing is not made inside of a transaction', async () => {
      const other = sqlFence({ dialect: client.dialect, table: 'other_fence' });
      const id = `${name}: half done`;
      const work = client.transaction(async (tx) => {
        await on(tx).count('INSERT INTO stock (id) VALUES (?)', [id]);
        await other.enter(tx, { ...at('none'), token: 1n });
      });
      await expect(work).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringContaining(other.schema),
      });
      expect(await numberLeft(client.db, id)).toBeNaN();
    });

    test('a fence for another database, and no token, are refused before a statement', async () => {
      const other = sqlFence({ dialect: client.dialect === 'mysql' ? 'postgres' : 'mysql' });
      await client.transaction(async (tx) => {
        const refused = { ...at('refused'), token: 1n };
        await expect(other.enter(tx, refused)).rejects.toThrow(/The fence is for/);
        await expect(fence.enter(tx, { ...refused, token: 0n })).rejects.toThrow(/fencing token/);
        // The transaction goes on.
        await fence.enter(tx, refused);
      });
    });
  });

  test('a table that equates names lets nobody in before it is mended', async () => {
    const other = sqlFence({ dialect: plain.dialect, table: 'loose_fence' });
    const made = other.schema
      .replace('resource text COLLATE "C"', 'resource text COLLATE loose')
      .replace('varbinary(640)', 'varchar(190)');
    if (plain.dialect === 'postgres') {
      await on(plain.db).count(`CREATE COLLATION loose
  (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`);
    }
    await on(plain.db).count(made);
    const enter = (token: bigint): Promise<void> =>
      plain.transaction((tx) => other.enter(tx, { resource: 'a', lineage: 'one', token }));
    const error = await enter(2n).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'USAGE' });
    const { message } = error as Error;
    expect(message).toMatch(/resource equates different texts/);
    await on(plain.db).count(message.slice(message.indexOf('ALTER TABLE')));
    // What was refused is undone.
    await enter(1n);
  });

  test('a table without its key lets nobody in', async () => {
    const other = sqlFence({ dialect: plain.dialect, table: 'keyless_fence' });
    await on(plain.db).count(other.schema.replace(' PRIMARY KEY', ''));
    const lease = { resource: 'a', lineage: 'one', token: 1n };
    const enter = plain.transaction((tx) => other.enter(tx, lease));
    await expect(enter).rejects.toMatchObject({ code: 'USAGE' });
    expect(await on(plain.db).rows('SELECT 1 AS "one" FROM keyless_fence')).toEqual([]);
  });

  test.each(ALL)('holders at once lose no update: %s', async (level) => {
    const id = `contended ${level}`;
    await on(plain.db).count('INSERT INTO stock (id, n) VALUES (?, 100)', [id]);
    const entered: bigint[] = [];
    /** Each reads, and writes what it read less one. */
    const sell = async (token: bigint): Promise<void> => {
      try {
        await plain.transaction(async (tx) => {
          await fence.enter(tx, { resource: id, lineage: 'one', token });
          const n = await numberLeft(tx, id);
          await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [n - 1, id]);
        }, level);
        entered.push(token);
      } catch (error) {
        if (isLockError(error, 'STALE_TOKEN')) return;
        // A snapshot may be too old on PostgreSQL. MySQL's entry needs none, and deadlocks nowhere.
        if (!isRetryable(error) || plain.dialect === 'mysql') throw error;
        await sell(token);
      }
    };
    const tokens = Array.from({ length: 48 }, (_, n) => BigInt(n + 1));
    for (let n = 0; n < tokens.length; n += 8) {
      const shuffled = tokens.slice(n, n + 8).sort(() => Math.random() - 0.5);
      await Promise.all(shuffled.map(sell));
    }
    expect(await numberLeft(plain.db, id)).toBe(100 - entered.length);
    expect(entered).toContain(48n);
  });
});
