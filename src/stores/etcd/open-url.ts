/** The store that an etcd URL names. No message repeats any part of the URL. */
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type EtcdOptions, etcdStore } from './index.ts';

/**
 * The query of the URL holds options of the store, which connects with its first verb.
 * @throws UsageError
 */
export function openUrl(scheme: string, rest: string): Store {
  // An @ in the apparent query means that the password has a ?.
  const [, servers = '//', query = ''] = /^(\/\/[^?#]*)(?:\?([^#@]*))?$/.exec(rest) ?? [];
  return etcdStore(`${scheme}:${servers}`, optionsFrom<EtcdOptions>(new URLSearchParams(query)));
}
