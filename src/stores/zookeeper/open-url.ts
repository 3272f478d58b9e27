/** The store that a ZooKeeper URL names. No message repeats any of the address in it. */
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type ZookeeperStoreOptions, zookeeperStore } from './index.ts';

/**
 * The path of the URL is the chroot; its query holds options of the store, which connects with its
 * first verb.
 * @throws UsageError
 */
export function openZookeeperUrl(scheme: string, rest: string): Store {
  // An @ in what looks like the query says that a ? was in the password.
  const [, servers = '//', query = ''] = /^(\/\/[^?#]*)(?:\?([^#@]*))?$/.exec(rest) ?? [];
  return zookeeperStore(
    `${scheme}:${servers}`,
    optionsFrom<ZookeeperStoreOptions>(new URLSearchParams(query)),
  );
}
