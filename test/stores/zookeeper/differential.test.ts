import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { zookeeperClient } from '../../../src/clients/zookeeper/client.ts';
import type { Store } from '../../../src/contract/store.ts';
import { Tree } from '../../../src/stores/zookeeper/layout.ts';
import { zookeeperStoreOf } from '../../../src/stores/zookeeper/zookeeper-store.ts';
import { differ } from '../../methods/differential/differ.ts';
import { closing } from '../../support/closing.ts';
import { sharedServer } from './fault-bed.ts';

/** As long as the longest ttl of the worlds. */
const LONGEST_MS = 60_000;

/** Time passes so much slower: no claim grows old while a slow machine makes the worlds. */
const SLOWER = 20;
const slowClock: Clock = { ...systemClock(), now: () => performance.now() / SLOWER };

const server = await sharedServer({ config: [`maxSessionTimeout=${2 * SLOWER * LONGEST_MS}`] });

function open({ maxWaiters }: { readonly maxWaiters: number }): Store {
  const { start } = zookeeperClient(server.url, slowClock);
  const client = { start: (ms = LONGEST_MS) => start(ms * SLOWER) };
  const parts = { client, tree: new Tree('/holdfast'), clock: slowClock, maxWaiters };
  return closing(zookeeperStoreOf(parts));
}

/** The clock of ZooKeeper cannot be stepped, so nothing ends by its TTL in these worlds. */
test('ZooKeeper answers and tells as memory does', async () => {
  await differ({
    open,
    together: true,
    longestMs: LONGEST_MS,
    groups: 1,
    // Other worlds have steps that core never takes: about a claim of another process, a second
    // eviction, the downgrade of a mutex.
    seeds: [0],
  });
  const session = closing(zookeeperClient(server.url).start());
  const { children } = await session.getChildren('/holdfast');
  const queues = children.filter((name) => name !== '%' && name !== '%kept');
  const left = await Promise.all(queues.map((name) => session.getChildren(`/holdfast/${name}`)));
  expect(left.flatMap((each) => each.children)).toEqual([]);
});
