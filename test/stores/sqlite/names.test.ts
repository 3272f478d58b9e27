/** Two different names never share a lock, whatever SQLite and its bindings think of text. */
import { expect, test } from 'vitest';
import { fromText, toText } from '../../../src/clients/sql/name-text.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { claimOf, connect, newFile, open } from './bed.ts';

/** Pairs that some layer or other might take for one. */
const NAMES: readonly string[] = [
  ...['a', 'A', 'a ', ' a', 'a\0', 'a\0b', 'a\0c', '\0', '\0\0', '\0a'],
  ...['\u0001', '\u00010', '\u00011', '\u0001\0', '\0\u0001', 'a\u0001', 'a\u00010'],
  ...['é', 'e\u0301', 'É', 'ß', 'ss', 'ı', 'i', 'I', 'İ', '😀', '\uFFFD', '\uFEFFa', '\u00a0a'],
  ...['%', '_', 'a%', 'a_', '"', "'", '\\', '\\u0000', '[]', 'null'],
  ...['1', '01', '1.0', '1e0', '0x1'],
  ...['x'.repeat(512), `${'x'.repeat(511)}y`, '\n', '\r\n', '\t', '\u2028'],
];

test('names come back as they were given', async () => {
  const store = open(newFile());
  await store.claim(NAMES.map((name) => claimOf(name)));
  const listed: string[] = [];
  for await (const name of store.list('')) listed.push(name);
  expect(listed.sort()).toEqual([...NAMES].sort());
  for (const prefix of ['a', 'a\0', '\0', '\u0001', '%', '_', 'A', 'é', 'x', '1', 'none']) {
    const found: string[] = [];
    for await (const name of store.list(prefix)) found.push(name);
    expect(found.sort()).toEqual(NAMES.filter((name) => name.startsWith(prefix)).sort());
  }
});

test('a list of more than a page is complete', async () => {
  const store = open(newFile());
  const names = Array.from({ length: 345 }, (_, i) => `list/${i}`);
  for (let i = 0; i < names.length; i += 100) {
    await store.claim(names.slice(i, i + 100).map((name) => claimOf(name)));
  }
  await store.claim([claimOf('lisu')]);
  const found: string[] = [];
  for await (const name of store.list('list/')) found.push(name);
  expect(found.sort()).toEqual([...names].sort());
});

test('a database in UTF-16 keeps them apart as well', async () => {
  const file = newFile();
  const database = await connect(file);
  database.exec("PRAGMA encoding = 'UTF-16le'");
  const store = sqliteStore({ database });
  const statuses = await store.claim(NAMES.map((name) => claimOf(name)));
  expect(statuses.map((status) => status.state)).toEqual(NAMES.map(() => 'held'));
  const found: string[] = [];
  for await (const name of store.list?.('a') ?? []) found.push(name);
  expect(found.sort()).toEqual(NAMES.filter((name) => name.startsWith('a')).sort());
  await store.close?.();
});

test('the text in the file is another for another name, and has no NUL', () => {
  const texts = NAMES.map(toText);
  expect(new Set(texts).size).toBe(NAMES.length);
  for (const text of texts) expect(text).not.toContain('\0');
  expect(texts.map(fromText)).toEqual(NAMES);
});
