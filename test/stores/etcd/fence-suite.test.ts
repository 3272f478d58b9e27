/** The suite for fences, on etcd. */
import { etcdFence } from 'holdfast/fence';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { afterAll, test } from 'vitest';
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';
import { etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import { valuesOf } from '../../clients/etcd/scene.ts';
import { startEtcd } from '../../servers/etcd-server.ts';

const server = await startEtcd();
afterAll(() => server.close());

function fixtureOn(etcd: EtcdClient, resource: string): FenceFixture {
  const fence = etcdFence();
  const key = `number of ${resource}`;
  const look = async (): Promise<number> => Number((await valuesOf(etcd, key))[key] ?? 0);
  return {
    look,
    adopt: (lease) => fence.adopt(etcd, lease),
    async enter(lease) {
      const entry = await fence.enter(etcd, lease);
      return {
        read: look,
        async write(value) {
          await entry.write({ success: [{ put: { key, value: String(value) } }] });
        },
      };
    },
    close: async () => etcd.close(),
  };
}

fenceConformance({ test, create: (resource) => fixtureOn(etcdClient(server.url), resource) });
