/**
 * An atomic reference reports no changes: so each writer of a document sets its key in a map, and
 * every waiting process listens to that map.
 *
 * The map holds only hints, so it may lose some, as maps of Hazelcast do: a heartbeat finds the
 * same change later. When a member comes or goes, all watches look.
 */
import { EventEmitter, on } from 'node:events';
import { type ChangeFeed, SharedWatch } from '../shared-watch.ts';
import type { Hazelcast, HazelcastMap } from './client.ts';

/** What the names of all objects begin with, unless the options say otherwise. */
export const PREFIX = 'holdfast/';

/** Entries live so long, in ms: every listener has had them long before. */
export const ENTRY_MS = 60_000;

/** The name of the map. */
export const mapOf = (prefix: string = PREFIX): string => `${prefix}changes`;

export class MapChanges {
  readonly #open: () => Promise<Hazelcast>;
  readonly #name: string;
  readonly #watches = new SharedWatch(() => this.#feed());
  #map: Promise<HazelcastMap> | undefined;

  constructor(open: () => Promise<Hazelcast>, name: string) {
    this.#open = open;
    this.#name = name;
  }

  /** Never rejects. */
  async wake(key: string): Promise<void> {
    try {
      await (await this.#getMap()).set(key, '', ENTRY_MS);
    } catch {
      // A hint is lost.
    }
  }

  watch(key: string, changed: () => void): Promise<AsyncDisposable> {
    return this.#watches.watch(key, changed);
  }

  close(): Promise<void> {
    return this.#watches.close();
  }

  #getMap(): Promise<HazelcastMap> {
    this.#map ??= this.#open().then((client) => client.getMap(this.#name));
    this.#map.catch(() => {
      this.#map = undefined;
    });
    return this.#map;
  }

  async #feed(): Promise<ChangeFeed> {
    const map = await this.#getMap();
    const cluster = (await this.#open()).getCluster();
    const changes = new EventEmitter();
    const keys = on(changes, 'changed', { close: ['closed'] });
    const changed = ({ key }: { readonly key: string }): boolean => changes.emit('changed', key);
    const end = (): boolean => changes.emit('closed');
    const entries = await map.addEntryListener(
      { added: changed, updated: changed },
      undefined,
      false,
    );
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
