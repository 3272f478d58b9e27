/** The suite for fences, on PostgreSQL, MariaDB and MySQL. */
import { sqlFence } from 'holdfast/fence';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { beforeAll, describe, test } from 'vitest';
import { PRODUCTS, useClient, useServer } from './bed.ts';
import { type Client, numberLeft, on } from './clients.ts';

/** A row of the table of things to sell, in the default isolation of the server. */
async function fixtureOn(client: Client, resource: string): Promise<FenceFixture> {
  const fence = sqlFence({ dialect: client.dialect });
  await on(client.db).count('INSERT INTO stock (id, n) VALUES (?, 0)', [resource]);
  return {
    look: () => numberLeft(client.db, resource),
    adopt: (lease) => client.transaction((tx) => fence.adopt(tx, lease)),
    async enter(lease) {
      await client.transaction((tx) => fence.enter(tx, lease));
      return {
        read: () =>
          client.transaction(async (tx) => {
            await fence.enter(tx, lease);
            return numberLeft(tx, resource);
          }),
        write: (value) =>
          client.transaction(async (tx) => {
            await fence.enter(tx, lease);
            await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [value, resource]);
          }),
      };
    },
    async close() {
      await client.close();
    },
  };
}

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  const client = useClient(product.plain, server);
  beforeAll(() => on(client.db).count(sqlFence({ dialect: client.dialect }).schema));
  fenceConformance({ test, create: (resource) => fixtureOn(product.plain(server.url), resource) });
});
