/** The conformance suite on a real ZooKeeper. */
import { conformance } from 'holdfast/testkit';
import { zookeeperStore } from 'holdfast/zookeeper';
import { afterAll, test } from 'vitest';
import { startZookeeper, type ZookeeperServerOptions } from '../../servers/zookeeper-server.ts';

export async function suite(options?: ZookeeperServerOptions): Promise<void> {
  const server = await startZookeeper(options);
  afterAll(() => server.close());
  const address = server.url;
  conformance({
    test: test.concurrent,
    skip: (name, reason) => test(name, (context) => context.skip(reason)),
    create: ({ maxWaiters }) => ({
      connect: () => zookeeperStore(address, maxWaiters === undefined ? {} : { maxWaiters }),
    }),
    traits: zookeeperStore(address).traits,
    lacks: ['raise'],
    forgets: false,
  });
}
