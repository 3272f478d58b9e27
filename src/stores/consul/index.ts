import type { Store } from '../../contract/store.ts';
import { apart, type DocumentStoreOptions, documentStore } from '../document/document-store.ts';
import { type ConsulOptions, consulDocuments } from './documents.ts';

export interface ConsulStoreOptions extends ConsulOptions, DocumentStoreOptions {}

/**
 * Locks in the key-value store of Consul.
 *
 * @example
 * import { consulStore } from 'holdfast/consul';
 *
 * const store = consulStore('http://127.0.0.1:8500');
 *
 * @param url of an agent.
 * @throws UsageError
 */
export function consulStore(url: string, options: ConsulStoreOptions = {}): Store {
  const [common, own] = apart(options);
  return documentStore(consulDocuments(url, own), common);
}
