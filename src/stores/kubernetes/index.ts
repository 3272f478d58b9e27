import type { Store } from '../../contract/store.ts';
import { apart } from '../document/apart.ts';
import { type DocumentStoreOptions, documentStore } from '../document/index.ts';
import type { KubernetesOptions } from './access.ts';
import { kubernetesDocuments } from './documents.ts';
import { holderIn } from './holder.ts';

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
