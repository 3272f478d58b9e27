import { etcdStore } from 'holdfast/etcd';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../src/store.ts';
import { differ } from '../differential/differ.ts';
import { type EtcdServer, startEtcd } from '../servers/etcd-server.ts';

let server: EtcdServer;
const stores = new Map<number, Store>();

beforeAll(async () => {
  server = await startEtcd();
});
afterAll(async () => {
  await Promise.all([...stores.values()].map((store) => store.close?.()));
  await server.close();
});

/** The clock of etcd cannot be stepped, so nothing ends by its TTL in these worlds. */
test('etcd answers and tells as memory does', { timeout: 120_000 }, async () => {
  await differ({
    // A process does not know how the claims of another came to where they are.
    open: (options) => {
      const store = stores.get(options.maxWaiters) ?? etcdStore(server.clientUrl, options);
      stores.set(options.maxWaiters, store);
      return store;
    },
    groups: 1,
  });
  const keys = await server.etcdctl('get', '--prefix', 'holdfast/', '--keys-only');
  // Tombstones and notes pass by themselves.
  const claims = keys.split('\n').filter((key) => /^holdfast\/[^%].*\//.test(key));
  expect(claims).toEqual([]);
});
