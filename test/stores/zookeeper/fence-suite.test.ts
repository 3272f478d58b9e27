/** The suite for fences, on ZooKeeper. */
import { zookeeperFence } from 'holdfast/fence';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { afterAll, test } from 'vitest';
import { zookeeperClient } from '../../../src/clients/zookeeper/client.ts';
import { nodeName } from '../../../src/clients/zookeeper/paths.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';

const server = await startZookeeper();
afterAll(() => server.close());

async function fixtureFor(resource: string): Promise<FenceFixture> {
  const fence = zookeeperFence();
  // It outlives what a machine that stands still does to its connection.
  const session = zookeeperClient({ servers: [server.address], sessionTimeout: '60s' }).start();
  const { path } = await session.create(`/${nodeName(resource)}`, { data: Buffer.from('0') });
  const look = async (): Promise<number> => Number((await session.getData(path)).data.toString());
  return {
    look,
    adopt: (lease) => fence.adopt(session, lease),
    async enter(lease) {
      const entry = await fence.enter(session, lease);
      return {
        read: look,
        async write(value) {
          await entry.write([{ step: 'set', path, data: Buffer.from(String(value)) }]);
        },
      };
    },
    close: () => session.close(),
  };
}

fenceConformance({ test, create: fixtureFor });
