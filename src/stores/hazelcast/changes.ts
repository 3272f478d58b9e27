/**
 * An atomic reference reports no changes: so each writer of a document sets its key in a map, and
 * every waiting process listens to that map.
 *
 * The map holds only hints, so it may lose some, as maps of Hazelcast do: a heartbeat finds the
 * same change later. When a member comes or goes, all watches look.
 */
import { EventEmitter, on } from 'node:events';
import { type ChangeFeed, SharedWatch } from '../shared-watch.ts';
import type { Hazelcast } from './client.ts';

export const PREFIX = 'holdfast/';

/** Entries live so long, in ms: every listener has had them long before. */
export const ENTRY_MS = 60_000;

export const mapOf = (prefix: string = PREFIX): string => `${prefix}changes`;

export class MapChanges {
  readonly watches: SharedWatch = new SharedWatch(() => this.#feed());
  readonly #open: () => Promise<Hazelcast>;
  readonly #name: string;

  constructor(open: () => Promise<Hazelcast>, name: string) {
    this.#open = open;
    this.#name = name;
  }

  /** Never rejects. */
  async wake(key: string): Promise<void> {
    try {
      const map = await (await this.#open()).getMap(this.#name);
      await map.set(key, '', ENTRY_MS);
    } catch {
      // A hint is lost.
    }
  }

  async #feed(): Promise<ChangeFeed> {
    const client = await this.#open();
    const map = await client.getMap(this.#name);
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
}
