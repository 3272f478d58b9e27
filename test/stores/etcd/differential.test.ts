import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';
import { etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import type { Store } from '../../../src/contract/store.ts';
import { etcdStoreOf } from '../../../src/stores/etcd/etcd-store.ts';
import { KeySpace } from '../../../src/stores/etcd/layout.ts';
import { differ } from '../../methods/differential/differ.ts';
import { closing } from '../../support/closing.ts';
import { sharedServer } from './fault-bed.ts';

/** Time passes so much slower: no lease grows old while a slow machine makes the worlds. */
const SLOWER = 20;
const slowClock: Clock = { ...systemClock(), now: () => performance.now() / SLOWER };

function slow(client: EtcdClient): EtcdClient {
  return {
    ...client,
    grant: async (ms) => {
      const { id, ttlMs } = await client.grant(ms * SLOWER);
      return { id, ttlMs: ttlMs / SLOWER };
    },
    keepAlive: async (lease) => (await client.keepAlive(lease)) / SLOWER,
    timeToLive: async (lease) => (await client.timeToLive(lease)) / SLOWER,
  };
}

const server = await sharedServer();

function open({ maxWaiters }: { readonly maxWaiters: number }): Store {
  const client = slow(etcdClient(server.clientUrl));
  const keys = new KeySpace('holdfast/');
  return closing(etcdStoreOf({ client, keys, clock: slowClock, maxWaiters }));
}

/** The clock of etcd cannot be stepped, so nothing ends by its TTL in these worlds. */
test('etcd answers and tells as memory does', async () => {
  await differ({
    open,
    together: true,
    groups: 1,
    // Other worlds have steps that core never takes: about a claim of another process, a second
    // eviction, the downgrade of a mutex.
    seeds: [0],
    // With holds that pass, these worlds are others.
    passes: false,
  });
  const keys = await server.etcdctl('get', '--prefix', 'holdfast/', '--keys-only');
  // Tombstones and notes pass by themselves.
  const claims = keys.split('\n').filter((key) => /^holdfast\/[^%].*\//.test(key));
  expect(claims).toEqual([]);
});
