/** The store that an etcd URL names. No message repeats any of the address in it. */
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type EtcdOptions, etcdStore } from './index.ts';

/**
 * The query of the URL holds options of the store, which connects with its first verb.
 * @throws UsageError
 */
export function openEtcdUrl(scheme: string, rest: string): Store {
  // An @ in what looks like the query says that a ? was in the password.
  const [, servers = '//', query = ''] = /^(\/\/[^?#]*)(?:\?([^#@]*))?$/.exec(rest) ?? [];
  return etcdStore(`${scheme}:${servers}`, optionsFrom<EtcdOptions>(new URLSearchParams(query)));
}
