/** The conformance suite on a real ZooKeeper. */
import { conformance } from 'holdfast/testkit';
import { zookeeperClient, zookeeperStore } from 'holdfast/zookeeper';
import { afterAll, test } from 'vitest';
import { Tree } from '../../../../src/stores/zookeeper/layout.ts';
import { ZookeeperStore } from '../../../../src/stores/zookeeper/zookeeper-store.ts';
import { movableClock } from '../../../methods/conformance/movable-clock.ts';
import { startZookeeper, type ZookeeperServerOptions } from '../../../servers/zookeeper-server.ts';

/** Claims of a quarter of an hour are tried. */
const LONG_SESSIONS = ['maxSessionTimeout=1800000'];

const FOR_WEEKS = [
  'claim: a claim lives as long as it asked to, even for weeks',
  'claim: a claim is shown with all that it asked for, even with weeks',
];

export async function suite({
  config = [],
  ...options
}: ZookeeperServerOptions = {}): Promise<void> {
  const server = await startZookeeper({ ...options, config: [...config, ...LONG_SESSIONS] });
  afterAll(() => server.close());
  const address = server.url;
  const tree = new Tree('/holdfast');
  const skip = (name: string, reason: string) =>
    test.concurrent(name, (context) => context.skip(reason));
  conformance({
    test(name, body) {
      if (FOR_WEEKS.includes(name)) skip(name, 'not promised: servers keep no session for so long');
      else test.concurrent(name, body);
    },
    skip,
    create({ maxWaiters = 10_000 }) {
      // The servers' sessions go on as they are; what this process believes of them leaps.
      const clock = movableClock();
      const client = zookeeperClient(address, clock);
      return {
        connect: () => new ZookeeperStore({ client, tree, clock, maxWaiters }),
        // A verb has a fifth of its session, and that is half as long again.
        shortMs: 1500,
        leap: (ms) => clock.move(ms),
      };
    },
    traits: zookeeperStore(address).traits,
    lacks: ['raise'],
    forgets: false,
    leaps: true,
  });
}
