/** Two different names never share a lock, whatever SQLite and its bindings think of text. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { fromText, toText } from '../../../src/clients/sql/name-text.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { cases } from '../../support/cases.ts';
import { listed } from '../../support/listed.ts';
import { claimOf, connect, newFile, open, test } from './bed.ts';

/** Pairs that some layer or other might take for one. */
const NAMES: readonly string[] = [
  ...['a', 'A', 'a ', ' a', 'a\0', 'a\0b', 'a\0c', '\0', '\0\0', '\0a'],
  ...['\u0001', '\u00010', '\u00011', '\u0001\0', '\0\u0001', 'a\u0001', 'a\u00010'],
  ...['é', 'e\u0301', 'É', 'ß', 'ss', 'ı', 'i', 'I', 'İ', '😀', '\uFFFD', '\uFEFFa', '\u00a0a'],
  ...['%', '_', 'a%', 'a_', '"', "'", '\\', '\\u0000', '[]', 'null'],
  ...['1', '01', '1.0', '1e0', '0x1'],
  ...['x'.repeat(512), `${'x'.repeat(511)}y`, '\n', '\r\n', '\t', '\u2028'],
];

test('a list of more than a page is complete', async () => {
  const store = open(newFile());
  const names = Array.from({ length: 345 }, (_, i) => `list/${i}`);
  for (let i = 0; i < names.length; i += 100) {
    await store.claim(names.slice(i, i + 100).map((name) => claimOf(name)));
  }
  await store.claim([claimOf('lisu')]);
  expect((await listed(store.list('list/'))).sort()).toEqual(names.sort());
});

test('a database in UTF-16 keeps them apart as well', async ({ file }) => {
  const database = await connect(file);
  database.exec("PRAGMA encoding = 'UTF-16le'");
  const store = sqliteStore({ database });
  const statuses = await store.claim(NAMES.map((name) => claimOf(name)));
  expect(statuses.map((status) => status.state)).toEqual(NAMES.map(() => 'held'));
  const expected = NAMES.filter((name) => name.startsWith('a')).sort();
  expect((await listed(store.list?.('a'))).sort()).toEqual(expected);
  await store.close?.();
});

/** Texts in which what is written for a NUL, and the mark before it, are near each other. */
const nearly = fc.string({
  unit: fc.constantFrom('a', '0', '1', '\0', '\u0001', '\u0002'),
  minLength: 1,
});

test('the text in the file gives the name back, has no NUL, and begins as the name does', () => {
  const names = fc.oneof(nearly, fc.string({ unit: 'binary' }));
  const property = fc.property(names, names, (name, more) => {
    const text = toText(name);
    expect(fromText(text)).toBe(name);
    expect(text).not.toContain('\0');
    expect(toText(name + more).startsWith(text)).toBe(true);
  });
  fc.assert(property, cases(1_000));
});

test('any names are locks of their own, and are listed by how they begin', async () => {
  const store = open(newFile());
  const pieces = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 });
  const joined = pieces.map((all) => all.join(''));
  const some = fc.uniqueArray(fc.oneof(nearly, joined), { minLength: 2, maxLength: 40 });
  const property = fc.asyncProperty(some, async (names) => {
    const claims = names.map((each) => claimOf(each));
    const statuses = await store.claim(claims);
    expect(statuses.map(({ state }) => state)).toEqual(names.map(() => 'held'));
    const [first = ''] = names;
    for (const prefix of ['', first, [...first].slice(0, 1).join('')]) {
      const expected = names.filter((each) => each.startsWith(prefix)).sort();
      expect((await listed(store.list(prefix))).sort()).toEqual(expected);
    }
    await store.release(claims);
  });
  await fc.assert(property, cases(200));
});
