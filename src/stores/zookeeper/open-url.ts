/** The store that a ZooKeeper URL names. No message repeats any part of the URL. */
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type ZookeeperStoreOptions, zookeeperStore } from './index.ts';

/**
 * The path of the URL is the chroot; its query holds options of the store, which connects with its
 * first verb.
 * @throws UsageError
 */
export function openUrl(scheme: string, rest: string): Store {
  // An @ in the apparent query means that the password has a ?.
  const [, servers = '//', query = ''] = /^(\/\/[^?#]*)(?:\?([^#@]*))?$/.exec(rest) ?? [];
  return zookeeperStore(
    `${scheme}:${servers}`,
    optionsFrom<ZookeeperStoreOptions>(new URLSearchParams(query)),
  );
}
