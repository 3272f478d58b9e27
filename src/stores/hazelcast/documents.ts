/**
 * Documents in atomic references of Hazelcast's CP Subsystem.
 *
 * A text is its own version, because no two writes have the same. `compareAndSet` is an entry in
 * the log of a Raft group, and so is `get`, so both are linearizable. Members may carry a write out
 * again when their leader has changed (`fail-on-indeterminate-operation-state: false`); the second
 * time it finds its own text, which a read then recognises. Nothing is removed: Hazelcast would
 * refuse the name for ever. The members do not report their time.
 * What would break it: unsafe mode, where a text is in the memory of one member and its backup.
 */
import { checkOptions, flag, text as textOption } from '../../base/options.ts';
import type { Documents } from '../document/documents.ts';
import { SharedWatch } from '../shared-watch.ts';
import { announce, changesIn } from './changes.ts';
import type { AtomicReference, Hazelcast } from './client.ts';
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
        void announce(key, map);
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
