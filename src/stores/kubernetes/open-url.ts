/** The store that `kubernetes:` names: leases of the cluster in which this program runs. */
import { UsageError } from '../../base/errors.ts';
import { httpFacts, type ServerFacts } from '../../clients/facts/server-facts.ts';
import type { Store } from '../../contract/store.ts';
import { apart } from '../document/document-store.ts';
import { optionsFrom } from '../url-options.ts';
import { type KubernetesStoreOptions, kubernetesStore } from './index.ts';
import { accessFrom, read } from './lease-api.ts';

export function openUrl(_scheme: string, rest: string): Store {
  return kubernetesStore(optionsIn(rest));
}

export async function facts(_scheme: string, rest: string): Promise<ServerFacts> {
  const [, own] = apart(optionsIn(rest));
  const { client, headers, namespace } = await accessFrom(own, 'kubernetesStore')();
  try {
    const request = { path: '/version', headers: await headers() };
    const ask = () => client.ask(request);
    return await httpFacts('Kubernetes', ask, (reply) => {
      const { gitVersion } = read<{ readonly gitVersion: string }>(reply);
      return `Kubernetes ${gitVersion}, leases in the namespace ${namespace}`;
    });
  } finally {
    client.close();
  }
}

function optionsIn(rest: string): KubernetesStoreOptions {
  const found = /^(?:\/\/)?(?:\?([^#]*))?$/.exec(rest);
  if (found) return optionsFrom<KubernetesStoreOptions>(new URLSearchParams(found[1]));
  throw new UsageError("'kubernetes:' takes options alone, as in 'kubernetes:?namespace=shop'.");
}
