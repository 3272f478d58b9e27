/** Servers that have lost what they knew: others answer at the same address. */
import { createLocks } from 'holdfast';
import { zookeeperStore } from 'holdfast/zookeeper';
import { expect, onTestFinished, test } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { closing } from '../../support/closing.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';

/** Its session is over soon enough for a test, and lives through what a busy machine does. */
const TTL_MS = paced(3000);

test('holders lose what they held, and tokens have another lineage', async () => {
  const [before, after] = [closing(await startZookeeper()), closing(await startZookeeper())];
  const proxy = closing(await TcpProxy.start(before.port));
  const store = closing(zookeeperStore(`zookeeper://127.0.0.1:${proxy.port}`));
  const locks = createLocks(store);
  onTestFinished(() => locks.close({ drain: 0 }));
  const held = await locks.mutex('a', { ttl: TTL_MS }).acquire();
  const { lineage } = store;
  expect(held.lineage).toBe(lineage);

  proxy.lead(after.port);
  proxy.reset();
  // The session that is there still knows the tokens of before.
  const other = claimOf('b', { ttlMs: 4 * TTL_MS });
  await until('was it granted', async () => (await store.claim([other]))[0]?.state === 'held');
  expect(store.lineage).not.toBe(lineage);
  await until('was it lost', async () => !held.held && held.signal.aborted);
  expect(['expired', 'session']).toContain(held.loss?.reason);
  const next = await locks.mutex('a', { ttl: TTL_MS }).acquire();
  expect(next.lineage).toBe(store.lineage);
  expect(next.lineage).not.toBe(lineage);
  await next.release();
  await store.release([other]);
});
