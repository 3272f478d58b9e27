/** The store that a URL of Consul names: `consul://host:8500`, or `consuls:` for TLS. */
import { UsageError } from '../../base/errors.ts';
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type ConsulStoreOptions, consulStore } from './index.ts';

/** The query holds options of the store. @throws UsageError */
export function openUrl(scheme: string, rest: string): Store {
  const [, place, query = ''] = /^\/\/([^/?#@]+)\/?(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (place === undefined) {
    throw new UsageError("'consul:' needs an agent's address, as in 'consul://localhost:8500'.");
  }
  const options = optionsFrom<ConsulStoreOptions>(new URLSearchParams(query));
  return consulStore(`${scheme === 'consuls' ? 'https' : 'http'}://${place}`, options);
}
