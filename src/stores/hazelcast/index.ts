import type { Store } from '../../contract/store.ts';
import { apart, type DocumentStoreOptions, documentStore } from '../document/document-store.ts';
import { checkClient, type HazelcastClient } from './client.ts';
import { type HazelcastOptions, hazelcastDocuments } from './documents.ts';

export type { HazelcastClient } from './client.ts';
export { type FencedLockOptions, fencedLockStore } from './fenced-lock.ts';

export interface HazelcastStoreOptions extends HazelcastOptions, DocumentStoreOptions {}

/**
 * Locks in the CP Subsystem of a Hazelcast cluster, for programs that all use Holdfast.
 *
 * @example
 * import { hazelcastStore } from 'holdfast/hazelcast';
 * import { Client } from 'hazelcast-client';
 *
 * const store = hazelcastStore(await Client.newHazelcastClient());
 *
 * @throws UsageError
 */
export function hazelcastStore(
  client: HazelcastClient,
  options: HazelcastStoreOptions = {},
): Store {
  const [common, own] = apart(options);
  const hazelcast = checkClient(client, 'hazelcastStore');
  return documentStore(
    hazelcastDocuments(async () => hazelcast, own),
    common,
  );
}
