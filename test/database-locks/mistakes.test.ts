/** What is refused, and how it is said: nothing is half done. */
import type { SqlTransaction } from 'holdfast/sql';
import { changeState, optimistic, rowLock, transactionLock } from 'holdfast/sql';
import { beforeAll, describe, expect, test } from 'vitest';
import { PRODUCTS, useClient, useServer } from './bed.ts';
import { on } from './clients.ts';

/** Names that would end a quoted one, or a statement, or that are no names. */
const BROKEN_NAMES = [
  ...['', ' ', '.', 'a.', '.a', 'a.b.c', '"', '`', "'", '\\', ';', '--', '/*', '?', ':a', '%s'],
  ...['stock"; DROP TABLE stock; --', 'stock`; DROP TABLE stock; --', 'stock; DROP TABLE stock'],
  ...['stock" WHERE 1 = 1 --', 'id" = id OR "id', 'a\0b', 'a\nb', 'x'.repeat(64), 'ä'.repeat(32)],
  ...['1a', '$1', 'a b', 'a"b', 'a`b', '\ud800', '(SELECT 1)', 'stock AS t', '*', 'a,b'],
  ...([undefined, null, 5, {}, [], ['stock'], () => 'stock'] as unknown as string[]),
];

/** Values of which some end a piece of text, somewhere. */
const PIECES = [
  ...["'", "''", '"', '`', '\\', "\\'", '\\\\', ';', '--', '#', '/*', '*/', '$1', '?', ':a', '%'],
  ...['\n', '\r', '\t', '\x1a', '\b', '\u00a5', '\u20a9', '\u2019', '\ufffd'],
  ...['👩‍🚀', 'é', 'e\u0301'],
  ...["' OR '1'='1", "'; DROP TABLE stock; --", "\\'; DROP TABLE stock; #", '{"a":1}', 'NULL'],
  ...['$$', '$a$', 'E\\x27', '0x27', '%27', '\\0', '\\x00', '{1}', '<>', '()', 'x'],
];
const VALUES = Array.from({ length: 500 }, (_, n) => {
  const [one, two, three] = [n, n * 7 + 3, n * 13 + 5].map((m) => PIECES[m % PIECES.length]);
  return `${n}${one}${two}${three}`;
});

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  const key = { id: 'a' };
  const stock = { table: 'stock', key };
  const client = useClient(product.plain, server);
  beforeAll(async () => {
    await on(client.db).count('CREATE TABLE loose (id integer, n integer NOT NULL)');
    await on(client.db).count('CREATE TABLE strict (id integer PRIMARY KEY, n integer NOT NULL)');
    await client.transaction((tx) => rowLock(tx, stock));
  });

  const locking = (options: object) =>
    client.transaction((tx) => rowLock(tx, { ...stock, ...options }));
  const usage = expect.objectContaining({ code: 'USAGE' });

  test.each(Object.entries(product.clients))('hostile values are values: %s', async (_, open) => {
    const many = open(server.url);
    const { version, from } = { version: 'version', from: { state: 0 } };
    try {
      for (const [n, id] of VALUES.entries()) {
        const row = { table: 'stock', key: { id } };
        const made = await many.transaction((tx) =>
          rowLock<{ id: string; seller: string }>(tx, { ...row, insert: { seller: id } }),
        );
        expect([made.id, made.seller]).toEqual([id, id]);
        // A few of them the whole way: it is the same binding.
        if (n % 25 !== 0) continue;
        const to = { state: 1, seller: `${id}'` };
        expect(await changeState(many.db, { ...row, from: { ...from, seller: id }, to })).toBe(
          true,
        );
        const set = { seller: id, state: 0, picture: new TextEncoder().encode(id) };
        const { before } = await optimistic<typeof set>(many.db, { ...row, version }, () => set);
        expect(before.seller).toBe(`${id}'`);
      }
      const [count] = await on(many.db).rows('SELECT count(*) AS "n" FROM stock');
      expect(Number(count?.n)).toBe(VALUES.length + 1);
      const kept = await on(many.db).rows('SELECT seller, picture FROM stock WHERE state = 0');
      const pictured = kept.filter(({ picture }) => picture !== null);
      for (const { seller, picture } of pictured) {
        expect(String(Buffer.from(picture as Uint8Array))).toBe(seller);
      }
    } finally {
      await on(many.db).count("DELETE FROM stock WHERE id <> 'a'");
      await many.close();
    }
  });

  test('names that are none are refused before anything is sent', async () => {
    await client.transaction(async (tx) => {
      for (const name of BROKEN_NAMES) {
        const columns = { [String(name)]: 1 };
        expect(() => rowLock(tx, { ...stock, table: name }), String(name)).toThrow(usage);
        const version = { ...stock, version: name };
        expect(() => optimistic(tx, version, () => null), String(name)).toThrow(usage);
        // These are fine as texts.
        if (typeof name !== 'string' && !/[^a-z]/.test(String(name))) continue;
        expect(() => rowLock(tx, { ...stock, key: columns }), String(name)).toThrow(usage);
        expect(() => rowLock(tx, { ...stock, insert: columns }), String(name)).toThrow(usage);
        const change = { from: { ...columns, state: 0 }, to: { state: 1 } };
        expect(() => changeState(tx, { ...stock, ...change }), String(name)).toThrow(usage);
      }
    });
  });

  test('values that are none are refused before anything is sent', async () => {
    const bad = [undefined, Number.NaN, Infinity, {}, [], { id: 1 }, () => 1, Symbol('x')];
    await client.transaction(async (tx) => {
      for (const value of [...bad, new Date(Number.NaN), 'a\ud800', null]) {
        const columns = { id: value as string };
        expect(() => rowLock(tx, { ...stock, key: columns })).toThrow(usage);
      }
      for (const columns of [undefined, null, 'id', [], {}, 5]) {
        expect(() => rowLock(tx, { ...stock, key: columns as never })).toThrow(usage);
      }
      expect(() => rowLock(tx, { ...stock, mode: 'write' as 'share' })).toThrow(usage);
      expect(() => rowLock(tx, { ...stock, wait: 'soon' as 'skip' })).toThrow(usage);
      expect(() => rowLock(tx, { ...stock, wiat: 5 } as never)).toThrow(/no option "wiat"/);
      expect(() => transactionLock(tx, '')).toThrow(usage);
      const change = { ...stock, from: { state: 0 } };
      for (const to of [{ state: 0 }, { state: '0' }, { seller: 'x' }]) {
        expect(() => changeState(tx, { ...change, to })).toThrow(/every caller would succeed/);
      }
      const options = { ...stock, version: 'version' };
      expect(() => optimistic(tx, { ...options, attempts: 0 }, () => null)).toThrow(usage);
      expect(() => optimistic(tx, options, undefined as never)).toThrow(usage);
    });
    for (const set of [{ version: 5 }, { n: {} as number }, { 'n = 0, n': 1 }, {}, 5]) {
      const change = optimistic(client.db, { ...stock, version: 'version' }, () => set as never);
      await expect(change).rejects.toEqual(usage);
    }
  });

  test.each([
    ['no such table', { table: 'none' }],
    ['no such schema', { table: 'none.stock' }],
    ['no such column', { key: { none: 1 } }],
    ['a column without a value', { table: 'strict', key: { id: 1 } }],
  ])('%s', async (_, options) => {
    await expect(locking(options)).rejects.toEqual(usage);
  });

  test('a key that is not unique', async () => {
    const loose = { table: 'loose', key: { id: 1 }, insert: { n: 1 } };
    if (client.dialect === 'postgres') await expect(locking(loose)).rejects.toEqual(usage);
    await on(client.db).count('INSERT INTO loose VALUES (1, 1), (1, 2)');
    for (const insert of [{ n: 1 }, false]) {
      await expect(locking({ ...loose, insert })).rejects.toThrow(/not unique/);
    }
    const options = { table: 'loose', key: { id: 1 }, version: 'n' };
    await expect(optimistic(client.db, options, () => null)).rejects.toThrow(/not unique/);
    const [rows] = await on(client.db).rows('SELECT count(*) AS "n" FROM loose');
    expect(Number(rows?.n)).toBe(2);
  });

  test.each(['none', 'seller', 'id', 'picture', 'made'])(
    'a version that is none: %s',
    async (version) => {
      const change = optimistic(client.db, { ...stock, version }, () => ({ n: 0 }));
      await expect(change).rejects.toEqual(usage);
    },
  );

  test('what is no client', () => {
    const things = [undefined, null, 5, 'postgres://', {}, [], () => {}, new Map(), new Date()];
    const { dialect } = client;
    const rows = async (): Promise<unknown> => [];
    const wrong = { dialect: 'oracle', transaction: true, rows, count: rows };
    for (const thing of [...things, wrong, { dialect, rows }, { query: rows }]) {
      const tx = thing as unknown as SqlTransaction;
      expect(() => rowLock(tx, stock)).toThrow(usage);
      expect(() => changeState(tx, { ...stock, from: { n: 1 }, to: { n: 2 } })).toThrow(usage);
    }
  });

  test('nothing happened to the table', async () => {
    const rows = await on(client.db).rows('SELECT id, n, state FROM stock');
    expect(rows).toEqual([{ id: 'a', n: 10, state: 0 }]);
  });
});
