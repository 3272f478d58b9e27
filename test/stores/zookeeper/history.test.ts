/** Servers that have lost what they knew: others answer at the same address. */
import { createLocks, type Store } from 'holdfast';
import { zookeeperStore } from 'holdfast/zookeeper';
import { expect, onTestFinished, test } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { startZookeeper, type ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';

/** Its session is over soon enough for a test, and lives through what a busy machine does. */
const TTL_MS = paced(3000);

async function newServer(): Promise<ZookeeperServer> {
  const server = await startZookeeper();
  onTestFinished(() => server.close());
  return server;
}

function storeAt({ port }: { readonly port: number }): Store {
  const store = zookeeperStore(`zookeeper://127.0.0.1:${port}`);
  onTestFinished(() => store.close?.());
  return store;
}

test('holders lose what they held, and tokens have another lineage', async () => {
  const [before, after] = [await newServer(), await newServer()];
  const proxy = await TcpProxy.start(before.port);
  onTestFinished(() => proxy.close());
  const store = storeAt(proxy);
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
