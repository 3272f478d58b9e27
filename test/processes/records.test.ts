/** Who has stalled past its lease records nothing, although it looked at the lease before. */
import { createLocks } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { expect, onTestFinished, test } from 'vitest';
import { RedisServer } from '../servers/redis-server.ts';
import { Child, databaseFile } from './child.ts';
import type { KeeperOptions, Kept } from './children/keeper.ts';

/** A busy machine gets to the record in less. */
const TTL_MS = 3000;

async function redisUrl(): Promise<string> {
  const server = await RedisServer.start();
  onTestFinished(() => server.close());
  return `${server.url}?afterDataLoss=trust`;
}

test.each([
  ['SQLite', async () => `sqlite:${databaseFile()}`],
  ['Redis', redisUrl],
] as const)('SIGSTOP between the work and its record, on %s', async (_, makeUrl) => {
  const url = await makeUrl();
  const child = new Child('keeper', { store: url, ttl: TTL_MS } satisfies KeeperOptions);
  await child.next('keeping');
  const locks = createLocks(await openStore(url));
  onTestFinished(() => locks.close({ drain: 0 }));
  const options = { keepFor: '1h', keepResult: true } as const;
  const second = await locks.once('report', options, () => 'the second');
  expect(second).toEqual({ state: 'ran', value: 'the second' });
  child.kill('SIGCONT');
  expect(await child.next<Kept>('kept')).toMatchObject({ answers: [false], end: 'LEASE_LOST' });
  const done = await locks.once('report', options, () => 'the third');
  expect(done).toMatchObject({ state: 'done', value: 'the second' });
});
