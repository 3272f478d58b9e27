/** Two holders who both believe, and things to sell on a server, behind the fence of their lock. */
import { isLockError, type Lease } from 'holdfast';
import { type FencingToken, sqlFence } from 'holdfast/fence';
import { expect } from 'vitest';
import { makeStock, soon } from '../../database-locks/bed.ts';
import { type Client, numberLeft, on } from '../../database-locks/clients.ts';

/** Each reads how many are left, and writes one less. */
export async function expectFenceHolds(
  client: Client,
  stale: Lease,
  newest: FencingToken,
): Promise<void> {
  const fence = sqlFence({ dialect: client.dialect });
  await on(client.db).count(fence.schema);
  await makeStock(client);
  await on(client.db).count("INSERT INTO stock (id, n) VALUES ('a', 100)");
  const sell = (token: FencingToken, meanwhile = async (): Promise<void> => {}): Promise<string> =>
    client
      .transaction(async (tx) => {
        await fence.enter(tx, token);
        const n = await numberLeft(tx, 'a');
        await meanwhile();
        await on(tx).count("UPDATE stock SET n = ? WHERE id = 'a'", [n - 1]);
        return 'sold';
      })
      .catch((error: unknown) => {
        if (isLockError(error)) return error.code;
        throw error;
      });
  expect(await sell(stale)).toBe('sold');
  let late: Promise<string> | undefined;
  // The newest has only read by then.
  const comeBack = async (): Promise<void> => {
    late = sell(stale);
    expect(await soon(late)).toBe('waits');
  };
  expect(await sell(newest, comeBack)).toBe('sold');
  expect(await late).toBe('STALE_TOKEN');
  const both = await Promise.all([stale, newest, stale, newest].map((token) => sell(token)));
  expect(both).toEqual(['STALE_TOKEN', 'sold', 'STALE_TOKEN', 'sold']);
  expect(await numberLeft(client.db, 'a')).toBe(96);
  expect(stale).toHaveProperty('held', true);
}
