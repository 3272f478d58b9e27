/**
 * Documents in atomic references of Hazelcast's CP Subsystem.
 *
 * A text is its own version, because no two writes have the same. `compareAndSet` is an entry in
 * the log of a Raft group, and so is `get`, so both are linearizable. Members may carry a write out
 * again when their leader has changed (`fail-on-indeterminate-operation-state: false`); the second
 * time it finds its own text, which a read then recognises. Nothing is removed: Hazelcast would
 * refuse the name for ever. The members do not report their time. Nor does a reference report its
 * changes: each writer of a document sets its key in a map, and every waiting process listens to
 * that map. It holds only hints, and may lose some, as maps of Hazelcast do: a heartbeat finds the
 * same change later. When a member comes or goes, all watches look.
 * What would break it: unsafe mode, where a text is in the memory of one member and its backup.
 */
import { EventEmitter, on } from 'node:events';
import { checkOptions, flag, text as textOption } from '../../base/options.ts';
import type { Documents } from '../document/documents.ts';
import { type ChangeFeed, SharedWatch } from '../shared-watch.ts';
import type { AtomicReference, Hazelcast, HazelcastMap } from './client.ts';
import { objectName, proxiesOf } from './proxies.ts';

export interface HazelcastOptions {
  /** What the names of all objects begin with; default `holdfast/`. */
  readonly prefix?: string;
  /** The CP group of all objects; default `default`. */
  readonly group?: string;
  /** Takes a cluster without CP members, which forgets locks that are held. Default false. */
  readonly allowUnsafe?: boolean;
}

const CHECKS = { prefix: textOption, group: textOption, allowUnsafe: flag() };

/** @param open returns the client, always the same. */
export function hazelcastDocuments(
  open: () => Promise<Hazelcast>,
  options: HazelcastOptions = {},
): Documents {
  const given = checkOptions(options, CHECKS, 'hazelcastStore');
  const { prefix = 'holdfast/', group = 'default', allowUnsafe } = given;
  const map = async () => (await open()).getMap(`${prefix}changes`);
  const changes = new SharedWatch(async () => changesIn(await map(), await open()));
  const withReference = proxiesOf({ open, group, allowUnsafe }, async (cp, name) =>
    withNull(await cp.getAtomicReference(name)),
  );
  const ask = <T>(key: string, use: (found: AtomicReference) => Promise<T>): Promise<T> =>
    withReference(`${prefix}${objectName(key)}`, use);

  return {
    name: 'hazelcast',
    async get(key) {
      const text = await ask(key, (reference) => reference.get());
      return typeof text === 'string' ? { text, version: text } : {};
    },
    put(key, text, onto) {
      return ask(key, async (reference) => {
        const done = await reference.compareAndSet(onto ?? null, text);
        if (!done && (await reference.get()) !== text) return 'other';
        const told = map().then((changed) => changed.set(key, '', ENTRY_MS));
        // A hint may be lost.
        told.catch(() => {});
        return { version: text };
      });
    },
    watch: (key, changed) => changes.watch(key, changed),
    close: () => changes.close(),
  };
}

/**
 * The client sends a null as an object that no new reference is equal to, so a first write could
 * not succeed. This sends none.
 */
function withNull(reference: AtomicReference): AtomicReference {
  const toData = reference.toData?.bind(reference);
  if (!toData) return reference;
  const value = (given: unknown): unknown => (given === null ? null : toData(given));
  return Object.create(reference, { toData: { value } });
}

/** Entries live so long, in ms: every listener has had them long before. */
const ENTRY_MS = 60_000;

async function changesIn(map: HazelcastMap, client: Hazelcast): Promise<ChangeFeed> {
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
