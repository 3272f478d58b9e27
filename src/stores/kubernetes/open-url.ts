/** The store that `kubernetes:` names: leases of the cluster in which this program runs. */
import { UsageError } from '../../base/errors.ts';
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type KubernetesStoreOptions, kubernetesStore } from './index.ts';

/** The query holds options of the store. @throws UsageError */
export function openUrl(_scheme: string, rest: string): Store {
  const [, query] = /^(?:\/\/)?(?:\?([^#]*))?$/.exec(rest) ?? [undefined, undefined];
  if (rest !== '' && rest !== '//' && query === undefined) {
    throw new UsageError("'kubernetes:' takes options alone, as in 'kubernetes:?namespace=shop'.");
  }
  return kubernetesStore(optionsFrom<KubernetesStoreOptions>(new URLSearchParams(query)));
}
