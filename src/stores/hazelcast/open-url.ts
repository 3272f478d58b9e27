/** The store that a URL of Hazelcast names: `hazelcast://host1:5701,host2:5701/cluster`. */
import { UsageError } from '../../base/errors.ts';
import { UnsupportedError } from '../../contract/errors.ts';
import type { Store } from '../../contract/store.ts';
import { apart } from '../document/apart.ts';
import { documentStore } from '../document/index.ts';
import { optionsFrom } from '../url-options.ts';
import { checkClient, type Hazelcast } from './client.ts';
import { hazelcastDocuments } from './documents.ts';
import type { HazelcastStoreOptions } from './index.ts';

/** How long a verb that opens the connection waits for the cluster, in ms. */
const CONNECT_MS = 10_000;

/** The query holds options of the store. @throws UsageError, UnsupportedError */
export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const [, places, clusterName = 'dev', query = ''] =
    /^\/\/([^/?#@]+)(?:\/([^/?#]+))?\/?(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (places === undefined) {
    throw new UsageError("'hazelcast:' needs a member, as in 'hazelcast://localhost:5701/dev'.");
  }
  const [common, own] = apart(optionsFrom<HazelcastStoreOptions>(new URLSearchParams(query)));
  const hazelcast = await import('hazelcast-client').catch(() => undefined);
  if (!hazelcast) {
    const advice = 'A Hazelcast URL needs a client: run `npm install hazelcast-client`.';
    throw new UnsupportedError('store', advice);
  }
  let opened: Promise<{ shutdown(): Promise<void> }> | undefined;
  const open = async (): Promise<Hazelcast> => {
    opened ??= hazelcast.Client.newHazelcastClient({
      clusterName,
      network: { clusterMembers: places.split(',') },
      connectionStrategy: { connectionRetry: { clusterConnectTimeoutMillis: CONNECT_MS } },
      properties: { 'hazelcast.logging.level': 'OFF' },
    });
    opened.catch(() => {
      opened = undefined;
    });
    return checkClient((await opened) as never, 'hazelcastStore');
  };
  const documents = hazelcastDocuments(open, own);
  const close = async (): Promise<void> => {
    await documents.close?.();
    await (await opened?.catch(() => undefined))?.shutdown();
  };
  return documentStore({ ...documents, close }, common);
}
