/** The transactions of ORMs are taken as they are: what lines.test.ts does not ask of them. */
import { sqlFence } from 'holdfast/fence';
import type { SqlTransaction } from 'holdfast/sql';
import { changeState, optimistic, rowLock, transactionLock } from 'holdfast/sql';
import { beforeAll, describe, expect, test } from 'vitest';
import { PRODUCTS, useClient, useServer } from './bed.ts';
import { numberLeft, on } from './clients.ts';
import { fetchOrms, ormsOn } from './orms.ts';

const table = 'stock';
const fetched = await fetchOrms();

describe.each(PRODUCTS.filter(({ name }) => name !== 'MySQL'))('$name', (product) => {
  const server = useServer(product);
  const { dialect } = product;

  describe.each(ormsOn(dialect))('%s', (name, open) => {
    const orm = useClient((url) => open(fetched, dialect, url), server);
    const other = useClient(product.plain, server);
    const lock = (tx: SqlTransaction, id: string, more: object = {}) =>
      rowLock(tx, { table, key: { id }, ...more });
    beforeAll(() => other.transaction((tx) => lock(tx, 'a')));

    test('a lock by name, and a fence, are in the transaction', async () => {
      const fence = sqlFence({ dialect });
      await on(other.db).count(fence.schema);
      const named = orm.transaction((tx) => transactionLock(tx, 'name'));
      // Those of MySQL outlive the transaction.
      if (dialect === 'postgres') expect(await named).toBe(true);
      else await expect(named).rejects.toMatchObject({ code: 'UNSUPPORTED' });
      const enter = (tx: SqlTransaction, token: bigint) =>
        fence.enter(tx, { resource: `${name}: fence`, lineage: 'one', token });
      const entered = orm.transaction(async (tx) => {
        await enter(tx, 35n);
        throw new Error('rolled back');
      });
      await expect(entered).rejects.toThrow('rolled back');
      await orm.transaction((tx) => enter(tx, 34n));
      const stale = orm.transaction((tx) => enter(tx, 33n));
      await expect(stale).rejects.toMatchObject({ code: 'STALE_TOKEN' });
    });

    test('what is in no transaction is refused', async () => {
      const outside = () => lock(orm.db as SqlTransaction, 'a');
      expect(outside).toThrow(expect.objectContaining({ code: 'USAGE' }));
    });

    test('a row is made, changed, and counted', async () => {
      const id = 'new';
      await on(other.db).count('DELETE FROM stock WHERE id = ?', [id]);
      const made = await orm.transaction((tx) => lock(tx, id, { insert: { n: 7 } }));
      expect(Number((made as { n: unknown }).n)).toBe(7);
      const change = { table, key: { id }, from: { n: 7 }, to: { n: 6 } };
      expect(await orm.transaction((tx) => changeState(tx, change))).toBe(true);
      expect(await orm.transaction((tx) => changeState(tx, change))).toBe(false);
      const row = { table, key: { id }, version: 'version' };
      await orm.transaction((tx) => optimistic(tx, row, () => ({ n: 5 })));
      expect(await numberLeft(other.db, id)).toBe(5);
    });
  });
});
