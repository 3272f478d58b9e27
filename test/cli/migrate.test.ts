/** `migrate` without a server; servers/postgres.test.ts has the rest. */
import Database from 'libsql';
import { expect, it } from 'vitest';
import { Place } from './program.ts';

it('makes the table of a fence in a file, and leaves the rest of the file as it is', async () => {
  const place = new Place();
  const database = new Database(place.path('shop.db'));
  database.exec('CREATE TABLE stock (lamps INTEGER)');
  const names = (sql: string, of: string): unknown[] =>
    (database.prepare(sql).all() as Record<string, unknown>[]).map((row) => row[of]);
  const mode = names('PRAGMA journal_mode', 'journal_mode');
  const migrate = ['migrate', '--fence', '--store', `sqlite:${place.path('shop.db')}`];
  for (const out of ['The tables of the fence are up to date.\n', '{"migrated":true}\n']) {
    const json = out.startsWith('{') ? ['--json'] : [];
    expect(await place.fate(...migrate, ...json)).toMatchObject({ status: 0, out, err: '' });
  }
  const tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
  expect(names(tables, 'name')).toEqual(['holdfast_fence', 'stock']);
  const columns = ['resource', 'lineage', 'token', 'floor'];
  expect(names('PRAGMA table_info(holdfast_fence)', 'name')).toEqual(columns);
  expect(names('PRAGMA journal_mode', 'journal_mode')).toEqual(mode);
  database.close();
});

it.each([
  ['sqlite:shop.db', /^CREATE TABLE .* holdfast_fence \([^;]+ WITHOUT ROWID;\n$/],
  ['postgres://no-such-host.invalid/x', /^CREATE TABLE .* "holdfast_fence" \([^;]+;\n$/],
  ['mariadb://no-such-host.invalid/x', /^CREATE TABLE .* `holdfast_fence` \([^;]+ InnoDB;\n$/],
  ['table+mysql://no-such-host.invalid/x', /^CREATE TABLE .* `holdfast_fence` \([^;]+;\n$/],
])('prints the table of a fence for %s', async (store, text) => {
  const { status, out, err } = await new Place().fate(
    ...['migrate', '--fence', '--print', '--store', store],
  );
  expect({ status, out, err }).toEqual({ status: 0, out: expect.stringMatching(text), err: '' });
});

it.each([
  ['--store redis://host', 78, /only postgres/],
  ['--store nonsense', 78, /named by a URL/],
  ['a --store postgres://host', 64, /one word too many/],
  ['--try', 64, /no flag "--try"/],
  ['--store sqlite:shop.db', 78, /with --fence sqlite/],
  ['--fence --store redis://host', 78, /"redis:" cannot be migrated/],
  ['--fence --store sqlite:', 78, /needs a file/],
  ['--fence --store sqlite:gone/shop.db', 69, /gone\/shop\.db/],
])('%s is refused', async (words, expected, says) => {
  const { status, err } = await new Place().fate('migrate', ...words.split(' '));
  expect({ status, err }).toEqual({ status: expected, err: expect.stringMatching(says) });
});
