/** The store that a URL of Hazelcast names: `hazelcast://host1:5701,host2:5701/cluster`. */
import { UsageError } from '../../base/errors.ts';
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import { UnsupportedError } from '../../contract/errors.ts';
import type { Store } from '../../contract/store.ts';
import { apart, documentStore } from '../document/document-store.ts';
import { optionsFrom } from '../url-options.ts';
import { checkClient, type Hazelcast } from './client.ts';
import { hazelcastDocuments } from './documents.ts';
import type { HazelcastStoreOptions } from './index.ts';

/** How long a verb that opens the connection waits for the cluster, in ms. */
const CONNECT_MS = 10_000;

export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const { connect, common, own } = await read(rest);
  let opened: ReturnType<typeof connect> | undefined;
  const open = async (): Promise<Hazelcast> => {
    opened ??= connect();
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

/** No member tells its clock, by which nothing ends that is kept there. */
export async function facts(_scheme: string, rest: string): Promise<ServerFacts> {
  const { connect } = await read(rest);
  const client = await connect();
  try {
    const members = client.getCluster().getMembers();
    const version = members[0]?.version ?? 'of unknown version';
    const count = members.length === 1 ? '1 member' : `${members.length} members`;
    return { version: `Hazelcast ${version}, ${count}` };
  } finally {
    await client.shutdown();
  }
}

/** One that was made by its URL, to be shut down by us. */
type OwnHazelcast = Hazelcast & { shutdown(): Promise<void> };

async function read(rest: string) {
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
  const connect = async (): Promise<OwnHazelcast> => {
    const client: unknown = await hazelcast.Client.newHazelcastClient({
      clusterName,
      network: { clusterMembers: places.split(',') },
      connectionStrategy: { connectionRetry: { clusterConnectTimeoutMillis: CONNECT_MS } },
      properties: { 'hazelcast.logging.level': 'OFF' },
    });
    return client as OwnHazelcast;
  };
  return { common, own, connect };
}
