/** The store of own-program.ts. Arguments: the address of the server, and the path. */
import type { Store } from 'holdfast';
import { zookeeperStore } from 'holdfast/zookeeper';

export function open(url: string, path: string): Store {
  return zookeeperStore(url, { path, latches: true });
}
