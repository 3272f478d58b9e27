/**
 * Documents as `Lease` objects of a Kubernetes cluster, one each, through its API server.
 *
 * The API server compares the resourceVersion of an update with that of the object, in one step of
 * etcd, and its reads are of etcd's quorum. Nothing is sent twice. Other programs that change such
 * a lease change its version, too, which shows.
 */
import type { IncomingMessage } from 'node:http';
import { DATE_SLACK_MS, timeIn } from '../../clients/http/fate.ts';
import type { Documents } from '../document/documents.ts';
import { type ChangeFeed, SharedWatch } from '../shared-watch.ts';
import {
  conditionOf,
  keyIn,
  LABEL,
  type LeaseObject,
  leaseName,
  leaseOf,
  textIn,
  versionIn,
} from './lease.ts';
import { type KubernetesOptions, LeaseApi, read } from './lease-api.ts';

const SELECTOR = `labelSelector=${encodeURIComponent(LABEL)}`;

/** A watch without changes has a sign of life about every minute. */
const SILENCE_MS = 180_000;

interface ListPage {
  readonly items: readonly LeaseObject[];
  readonly metadata: { readonly continue?: string; readonly resourceVersion: string };
}

/** @param holderIn who holds, by the text of a document. */
export function kubernetesDocuments(
  options: KubernetesOptions = {},
  holderIn: (text: string) => string | undefined = () => undefined,
): Documents {
  const api = new LeaseApi(options, 'kubernetesStore');

  async function page(query: string): Promise<ListPage> {
    return read<ListPage>(await api.ask(`?${SELECTOR}${query}`));
  }

  async function watchAll(): Promise<ChangeFeed> {
    const { resourceVersion } = (await page('&limit=1')).metadata;
    const from = `allowWatchBookmarks=true&${SELECTOR}&resourceVersion=${resourceVersion}`;
    return feedOf(await api.watch(from, SILENCE_MS));
  }

  const changes = new SharedWatch(watchAll);

  return {
    name: 'kubernetes',
    slackMs: DATE_SLACK_MS,
    async get(key) {
      const reply = await api.ask(`/${leaseName(key)}`);
      if (reply.status === 404) return timeIn(reply.headers);
      const lease = read<LeaseObject>(reply);
      return { text: textIn(lease), version: versionIn(lease), ...timeIn(reply.headers) };
    },
    async put(key, text, onto) {
      const body = leaseOf({ key, text, holder: holderIn(text) }, onto);
      const reply = await api.put(onto && leaseName(key), body);
      if (reply.status === 409) return 'other';
      return { version: versionIn(read<LeaseObject>(reply)), ...timeIn(reply.headers) };
    },
    async remove(key, version) {
      const question = { method: 'DELETE', body: conditionOf(version) } as const;
      const reply = await api.ask(`/${leaseName(key)}`, question);
      if (![404, 409].includes(reply.status)) read(reply);
    },
    async *list(prefix) {
      let more = '';
      do {
        const { items, metadata } = await page(`&limit=500${more}`);
        for (const lease of items) {
          const key = keyIn(lease);
          if (key?.startsWith(prefix)) yield key;
        }
        more = metadata.continue ? `&continue=${encodeURIComponent(metadata.continue)}` : '';
      } while (more !== '');
    },
    watch: (key, changed) => changes.watch(key, changed),
    async close() {
      await changes.close();
      api.close();
    },
  };
}

interface Event {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: LeaseObject;
}

/** One event in a line. */
function feedOf(message: IncomingMessage): ChangeFeed {
  return {
    close: async () => void message.destroy(),
    async *[Symbol.asyncIterator]() {
      let rest = '';
      for await (const piece of message.setEncoding('utf8')) {
        const lines = (rest + piece).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as Event;
          // Its history is gone: a new watch begins at what is now.
          if (type === 'ERROR') return;
          const key = type === 'BOOKMARK' ? undefined : keyIn(object);
          if (key !== undefined) yield key;
        }
      }
    },
  };
}
