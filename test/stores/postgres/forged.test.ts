/** What notifications of a role can do that may read the tables, but write nothing. */
import { expect, test } from 'vitest';
import { expectNoForgery } from '../../methods/faults/forged.ts';
import { Bed, sessionOn } from './bed.ts';

test('a role that may only read makes nobody hold a lock', async () => {
  await using bed = new Bed();
  const server = await bed.server();
  await bed.query(
    server,
    `CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA holdfast TO reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA holdfast TO reader`,
  );
  const reader = await sessionOn(bed, { url: server.urlOf({ user: 'reader' }) });
  await expect(reader.query('DELETE FROM holdfast.lock')).rejects.toThrow('permission denied');
  const rowOf = async (name: string) => {
    const found = await reader.query(
      `SELECT id, tag || E'\\n' || crowd AS texts FROM holdfast.lock WHERE name = $1`,
      [name],
    );
    return found.rows[0] as { id: string; texts: string };
  };
  const tagsOf = ({ texts }: { texts: string }) => [
    ...texts.matchAll(/([0-9a-f]{16}) ([\w-]{22})/g),
  ];
  let addresses: string[] = [];
  const [holder, waiter] = [bed.locks(server, {}, 30_000), bed.locks(server, {}, 30_000)];
  await expectNoForgery(
    { holder, waiter },
    {
      async tags(name) {
        const tags = tagsOf(await rowOf(name));
        addresses = tags.map(([, address = '']) => address);
        return tags.map(([, , tag = '']) => tag);
      },
      words: async (name) => {
        const { id, texts } = await rowOf(name);
        return [id, ...(texts.match(/[0-9a-f]{32}/g) ?? [])];
      },
      async send(message) {
        for (const address of addresses) {
          await reader.query('SELECT pg_notify($1, $2)', [`holdfast_${address}`, message]);
        }
      },
    },
    // Notifications come before the reply to what was asked for after them.
    async () => {
      await bed.query(server, 'SELECT 1');
      await waiter.inspect('gold');
      await waiter.inspect('gold');
    },
  );
});
