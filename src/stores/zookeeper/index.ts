/** Locks between machines, in ZooKeeper; programs that use Curator can share them. */
import { systemClock } from '../../base/clock.ts';
import { UsageError } from '../../base/errors.ts';
import { checkOptions, oneOf } from '../../base/options.ts';
import type { ZookeeperOptions } from '../../clients/zookeeper/address.ts';
import { type ZookeeperClient, zookeeperClient } from '../../clients/zookeeper/client.ts';
import { checkPath } from '../../clients/zookeeper/paths.ts';
import { maxWaiters } from '../../contract/admission.ts';
import type { Store } from '../../contract/store.ts';
import { PATH, type Recipe, Tree } from './layout.ts';
import { semaphoreStoreOf } from './semaphore/semaphore-store.ts';
import { zookeeperStoreOf } from './zookeeper-store.ts';

export type { Acl, Auth, ZookeeperOptions } from '../../clients/zookeeper/address.ts';
export { type ZookeeperClient, zookeeperClient } from '../../clients/zookeeper/client.ts';
export type { StepAnswer } from '../../clients/zookeeper/wire/requests.ts';
export type { MultiStep, ZookeeperSession } from '../../clients/zookeeper/zookeeper-session.ts';

export interface ZookeeperStoreOptions {
  /**
   * Where the queues of all locks are, below the chroot; default `/holdfast`. Made if it is
   * missing. The mutex `a` is shared with an `InterProcessMutex` of Curator at `<path>/a`.
   */
  readonly path?: string;
  /**
   * Which of Curator's recipes shares the locks; all programs of a path must agree. `locks`: a
   * mutex is an `InterProcessMutex`, a read-write lock an `InterProcessReadWriteLock`. `latch`: an
   * election, or any lock of one holder, is a `LeaderLatch`. `semaphore`: a semaphore is an
   * `InterProcessSemaphoreV2`. Default `locks`.
   */
  readonly recipe?: Recipe;
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
}

const CHECKS = {
  path: (given: string = PATH, name: string): string => {
    const root = checkPath(given);
    if (root !== '/zookeeper' && !root.startsWith('/zookeeper/')) return root;
    throw new UsageError(`${name} must not be below /zookeeper, which is for the servers.`);
  },
  recipe: oneOf('locks', 'latch', 'semaphore'),
  maxWaiters,
};

/**
 * A store in the ensemble at this address: `zookeeper://host1:2181,host2:2181/chroot`,
 * `zookeepers://` for TLS, an object with `servers` and more, or a client of your own. It connects
 * with its first verb. Its sessions last half as long again as `ttl`.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { zookeeperStore } from 'holdfast/zookeeper';
 *
 * const locks = createLocks(zookeeperStore('zookeeper://127.0.0.1:2181'));
 *
 * @throws UsageError for a malformed address, or for bad options.
 */
export function zookeeperStore(
  address: string | ZookeeperOptions | ZookeeperClient,
  options: ZookeeperStoreOptions = {},
): Store {
  const { path, recipe, ...limits } = checkOptions(options, CHECKS, 'zookeeperStore');
  const client =
    typeof address === 'object' && address !== null && 'start' in address
      ? address
      : zookeeperClient(address);
  const root = path === '/' ? '' : path;
  const parts = { client, clock: systemClock(), tree: new Tree(root, recipe), ...limits };
  return recipe === 'semaphore' ? semaphoreStoreOf(parts) : zookeeperStoreOf(parts);
}
