/** Documents in a table of real databases, through each client. */
import { connect } from 'holdfast/connect';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tableDocuments, tableSchema } from '../../../src/stores/table/documents.ts';
import { migrate, migrationText } from '../../../src/stores/table/open-url.ts';
import { examined } from '../../cli/examined.ts';
import { PRODUCTS, type Server } from '../../database-locks/bed.ts';
import { type Client, type Open, on } from '../../database-locks/clients.ts';
import { listed } from '../../support/listed.ts';
import { cutting, documentsTests } from '../document/service.ts';

describe.each(PRODUCTS)('$name', ({ start, clients, plain }) => {
  let server: Server;
  let client: Client;
  beforeAll(async () => {
    server = await start();
    client = plain(server.url);
    await on(client.db).count(tableSchema(client.dialect));
  });
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  test('its URL makes the table, and opens the store', async () => {
    const url = `table+${server.url}?table=by_url`;
    const [scheme = '', ...rest] = url.split(':');
    expect(migrationText(scheme, rest.join(':'))).toBe(tableSchema(client.dialect, 'by_url'));
    for (const _ of ['made', 'found']) await migrate(scheme, rest.join(':'));
    await using one = await connect(url);
    await using other = await connect(url);
    await one.mutex('a').run(async () => {
      expect(await other.mutex('a').tryAcquire()).toBeNull();
    });
    await other.mutex('a').run(() => {});
    const { tables } = await examined(url);
    expect(tables?.says).toBe('up to date, the table by_url');
  });

  test.each([
    ['shop', 'id integer, body text', /another table "shop"/],
    ['short', 'name varchar(9), text varchar(9), version varchar(9)', /ALTER TABLE/],
  ])('its URL refuses a table of others: %s', async (table, columns, says) => {
    await on(client.db).count(`CREATE TABLE ${table} (${columns})`);
    const [scheme = '', ...rest] = `table+${server.url}?table=${table}`.split(':');
    const refused = { code: 'USAGE', message: expect.stringMatching(says) };
    await expect(migrate(scheme, rest.join(':'))).rejects.toMatchObject(refused);
  });

  /** They own the client. */
  function documents(open: Open, url = server.url) {
    const own = open(url);
    return { ...tableDocuments(own.db), close: async () => void (await own.close()) };
  }

  /** Only with clients that use a connection again: the others would learn statements anew. */
  const losing = cutting(
    () => Number(new URL(server.url).port),
    (port) => documents(plain, `${Object.assign(new URL(server.url), { port })}`),
    // Each new connection first learns both statements: those replies are not to be lost.
    async (through) => {
      await through.put('learnt', '1', undefined);
      await through.put('learnt', '1', 'another version');
    },
  );

  describe.each(Object.entries(clients))('%s', (_, open) => {
    documentsTests({
      create: () => documents(open),
      has: ['remove', 'list', 'nowMs'],
      ...(open === plain && { losing }),
    });
  });

  test('the list goes beyond one page', async () => {
    const { db } = client;
    const some = tableDocuments(db);
    const names = Array.from({ length: 1001 }, (_, n) => `page ${n}`);
    const puts = names.map((name) => some.put(name, '1', undefined));
    expect(await Promise.all(puts)).not.toContain('other');
    expect((await listed(some.list?.('page '))).sort()).toEqual(names.sort());
  });

  test('a table that is not there, and what is no pool, are refused', async () => {
    const nowhere = tableDocuments(client.db, { table: 'nowhere' });
    const usage = { code: 'USAGE', message: expect.stringContaining('CREATE TABLE') };
    await expect(nowhere.get('a')).rejects.toMatchObject(usage);
    await client.transaction(async (tx) =>
      expect(() => tableDocuments(tx)).toThrow(/takes a pool/),
    );
    const long = tableDocuments(client.db).put('x'.repeat(800), '1', undefined);
    await expect(long).rejects.toMatchObject({ code: 'USAGE' });
  });
});
