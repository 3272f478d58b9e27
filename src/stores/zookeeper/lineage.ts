/** Where the tokens of these servers come from: a name that is lost with their data. */
import { randomBytes } from 'node:crypto';
import { StoreError } from '../../contract/errors.ts';
import { failedWith } from './errors.ts';
import type { Tree } from './tree.ts';
import type { Within, ZookeeperSession } from './zookeeper-session.ts';

/**
 * The first client makes it, with the root, and it never changes.
 * @throws StoreError
 */
export async function lineageOf(
  session: ZookeeperSession,
  tree: Tree,
  within: Within,
): Promise<string> {
  for (;;) {
    try {
      const { data } = await session.getData(tree.lineage, within);
      return `zookeeper:${data.toString()}`;
    } catch (error) {
      if (!failedWith(error, 'NONODE')) throw error;
    }
    if ((await session.exists('/', within)) === undefined) throw noChroot();
    const data = Buffer.from(randomBytes(8).toString('hex'));
    for (const path of [...tree.folders, tree.lineage]) {
      // Without the right to create, a client gets NOAUTH even if the node exists.
      if (await session.exists(path, within)) continue;
      const making = path === tree.lineage ? { data, ...within } : within;
      await session.create(path, making).catch((error: unknown) => {
        if (!failedWith(error, 'NODEEXISTS')) throw error;
      });
    }
  }
}

function noChroot(): StoreError {
  const message = 'The chroot of the ZooKeeper address does not exist. Create it, or leave it out.';
  return new StoreError(message, { retryable: false, outcome: 'failed' });
}
