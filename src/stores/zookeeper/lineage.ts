/** Where the tokens of these servers come from, by a name that is gone when their data is. */
import { randomBytes } from 'node:crypto';
import { StoreError } from '../../contract/errors.ts';
import { failedWith } from './errors.ts';
import type { Tree } from './tree.ts';
import type { Within, ZookeeperSession } from './zookeeper-session.ts';

/**
 * It is made by whoever comes first, with the root, and never again.
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
      // Who may not make what is there is refused before it is told that it is there.
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
