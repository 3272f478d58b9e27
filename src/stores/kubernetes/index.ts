import type { Store } from '../../contract/store.ts';
import type { QueueJson } from '../../queue/json.ts';
import { apart, type DocumentStoreOptions, documentStore } from '../document/document-store.ts';
import { kubernetesDocuments } from './documents.ts';
import type { KubernetesOptions } from './lease-api.ts';

export { type LeaseLockOptions, leaseLockStore } from './lease-lock.ts';

export interface KubernetesStoreOptions extends KubernetesOptions, DocumentStoreOptions {}

/**
 * Locks as `Lease` objects of Kubernetes, so that `kubectl get lease` shows who holds. Without
 * options: of the cluster, and the namespace, in which this program runs.
 *
 * @example
 * import { kubernetesStore } from 'holdfast/kubernetes';
 *
 * // What `kubectl proxy` opens.
 * const store = kubernetesStore({ url: 'http://127.0.0.1:8001' });
 *
 * @throws UsageError
 */
export function kubernetesStore(options: KubernetesStoreOptions = {}): Store {
  const [common, own] = apart(options);
  return documentStore(kubernetesDocuments(own, holderIn), common);
}

/** For people: the first that holds by a text, and how many more do; undefined if none does. */
function holderIn(text: string): string | undefined {
  const { queue } = JSON.parse(text) as { readonly queue: QueueJson };
  const [first, ...more] = queue.claims.filter(({ admitted }) => admitted);
  if (!first) return undefined;
  const { host, pid, label } = first.holder;
  const shown = label === undefined ? `${host}:${pid}` : `${label} (${host}:${pid})`;
  return more.length === 0 ? shown : `${shown} +${more.length}`;
}
