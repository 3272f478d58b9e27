/**
 * An atomic reference reports no changes: so each writer of a document sets its key in a map, and
 * every waiting process listens to that map.
 *
 * The map holds only hints, so it may lose some, as maps of Hazelcast do: a heartbeat finds the
 * same change later. When a member comes or goes, all watches look.
 */
import { EventEmitter, on } from 'node:events';
import type { ChangeFeed } from '../shared-watch.ts';
import type { Hazelcast, HazelcastMap } from './client.ts';

/** Entries live so long, in ms: every listener has had them long before. */
const ENTRY_MS = 60_000;

/** Never rejects. */
export async function announce(key: string, open: () => Promise<HazelcastMap>): Promise<void> {
  try {
    await (await open()).set(key, '', ENTRY_MS);
  } catch {
    // A hint is lost.
  }
}

export async function changesIn(map: HazelcastMap, client: Hazelcast): Promise<ChangeFeed> {
  const cluster = client.getCluster();
  const changes = new EventEmitter();
  const keys = on(changes, 'changed', { close: ['closed'] });
  const changed = ({ key }: { readonly key: string }): boolean => changes.emit('changed', key);
  const end = (): boolean => changes.emit('closed');
  const both = { added: changed, updated: changed };
  const entries = await map.addEntryListener(both, undefined, false);
  const members = cluster.addMembershipListener({ memberAdded: end, memberRemoved: end });
  return {
    async close() {
      end();
      cluster.removeMembershipListener(members);
      await map.removeEntryListener(entries);
    },
    async *[Symbol.asyncIterator]() {
      for await (const [key] of keys) yield key as string;
    },
  };
}
