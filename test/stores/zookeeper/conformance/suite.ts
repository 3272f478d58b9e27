/** The conformance suite on a real ZooKeeper. */
import type { Store } from 'holdfast';
import { zookeeperClient, zookeeperStore } from 'holdfast/zookeeper';
import type { OptionalVerb } from '../../../../src/contract/store.ts';
import { type Recipe, Tree } from '../../../../src/stores/zookeeper/layout.ts';
import { semaphoreStoreOf } from '../../../../src/stores/zookeeper/semaphore/semaphore-store.ts';
import type { ZookeeperStoreParts } from '../../../../src/stores/zookeeper/zookeeper-store.ts';
import { zookeeperStoreOf } from '../../../../src/stores/zookeeper/zookeeper-store.ts';
import { movableClock } from '../../../methods/conformance/movable-clock.ts';
import { suite } from '../../../methods/conformance/suite.ts';
import { HANG_MS, paced } from '../../../support/this-run.ts';
import { sharedServer } from '../fault-bed.ts';

const LACKS: Readonly<Record<Recipe, readonly OptionalVerb[]>> = {
  locks: ['raise', 'handOver'],
  latch: ['raise', 'handOver'],
  semaphore: ['claimAll', 'raise', 'downgrade', 'evict', 'keep', 'recall', 'handOver', 'list'],
};

/** Why cases by these names are not promised. */
const WHY: Readonly<Record<Recipe, readonly { readonly why: string; readonly names: RegExp }[]>> = {
  locks: [],
  latch: [
    {
      why: 'a latch in Java would miss the end of a node that was written to',
      names: new RegExp(
        [
          '^takeover: a waiter learns of an eviction that ended with the TTL',
          '^evict: an evicted (?:holder|claim) (?:is|still|may|that|cannot)',
          '^evict: an evicted holder is told, and stays',
          '^evict: released with `after` before, it ends as released',
          '^keep and recall: .*: evicted$',
          'loss: an evicted lease is lost at once, and the resource free after the TTL$',
        ].join('|'),
      ),
    },
  ],
  semaphore: [
    {
      why: 'a semaphore of Curator has no readers, and tells no kinds apart',
      names: /^tokens: tokens grow although|^batches: a refused claim/,
    },
    {
      why: 'one that comes waits while another passes the mutex, also for free permits',
      names: /^batches: batches of connections do not mix/,
    },
    { why: 'each permit is a node of its own', names: /^inspect and list: a holder is shown as/ },
  ],
};
const FOR_WEEKS = {
  why: 'servers keep no session for so long',
  names: /^claim: a claim (?:lives as long as it asked to|is shown as asked).*weeks$/,
};

export async function zookeeperSuite(recipe: Recipe): Promise<void> {
  // Claims of a quarter of an hour are tried.
  const { url: address } = await sharedServer({ config: ['maxSessionTimeout=1800000'] });
  suite({
    except: [FOR_WEEKS, ...WHY[recipe]],
    create({ maxWaiters = 10_000 }) {
      // The servers' sessions go on as they are; what this process believes of them leaps.
      const clock = movableClock();
      const client = zookeeperClient(address, clock);
      return {
        connect: () => storeOf(recipe, { client, clock, maxWaiters }),
        // A verb has a fifth of its session, and that is half as long again.
        shortMs: paced(1500),
        leap: (ms) => clock.move(ms),
      };
    },
    traits: zookeeperStore(address, { recipe }).traits,
    lacks: LACKS[recipe],
    forgets: false,
    leaps: true,
    patienceMs: HANG_MS,
  });
}

function storeOf(recipe: Recipe, rest: Omit<ZookeeperStoreParts, 'tree'>): Store {
  const parts = { ...rest, tree: new Tree('/holdfast', recipe) };
  return recipe === 'semaphore' ? semaphoreStoreOf(parts) : zookeeperStoreOf(parts);
}
