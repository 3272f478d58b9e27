/** The store that a ZooKeeper URL names. No message repeats any of the address in it. */
import { UsageError } from '../../base/errors.ts';
import type { Store } from '../../contract/store.ts';
import { zookeeperStore } from './index.ts';

/**
 * The path of the URL is the chroot; its query holds options of the store, which connects with its
 * first verb.
 * @throws UsageError
 */
export function openZookeeperUrl(scheme: string, rest: string): Store {
  // An @ in what looks like the query says that a ? was in the password.
  const [, servers = '//', query = ''] = /^(\/\/[^?#]*)(?:\?([^#@]*))?$/.exec(rest) ?? [];
  const { maxWaiters, ...texts } = Object.fromEntries(new URLSearchParams(query));
  if (maxWaiters !== undefined && !/^\d+$/.test(maxWaiters)) {
    throw new UsageError('maxWaiters of the URL must be a whole number.');
  }
  const numbers = maxWaiters === undefined ? {} : { maxWaiters: Number(maxWaiters) };
  // Unknown names and values are refused by the store.
  return zookeeperStore(`${scheme}:${servers}`, { ...texts, ...numbers });
}
