/**
 * The keys of the store. A resource has one key, and one for its kept text; the record of the store
 * must be in the same slot, so that one script may touch them all. So a cluster has a record for
 * each slot in use, and one for each server; or all keys are under one hash tag, with one record.
 *
 * Invariant: a key has one reading. All begin with the namespace and a colon; then follow the hash
 * tag in braces, if there is one, and a second colon and the resource, or `!` and a word. As no
 * namespace has braces, `!` or two colons in a row, the first of these ends it. So neither two
 * namespaces, nor a tagged and an untagged store, nor a resource and a record meet in one key.
 * What breaks it: a namespace that ends with a colon.
 */

import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { slotOf, tagOf } from '../../clients/redis/slots.ts';
import type { Claim } from '../../contract/store.ts';

export class Places {
  /** There is a record for each slot. */
  readonly many: boolean;
  /** The keys are in a cluster, in its slots or in the one of the hash tag. */
  readonly inCluster: boolean;
  /** The hash tag of all keys, in braces; empty if there is none. */
  readonly tag: string;
  readonly #base: string;

  constructor(namespace: string, cluster: boolean, hashTag?: string) {
    this.tag = hashTag === undefined ? '' : `{${hashTag}}`;
    this.many = cluster && this.tag === '';
    this.inCluster = cluster || this.tag !== '';
    this.#base = `${namespace}:${this.tag}`;
  }

  /** The keys of one claim, that of its resource first. */
  keysOf({ resource }: Claim): readonly string[] {
    return [this.keyOf(resource)];
  }

  /** The keys that a look at a resource needs. */
  lookOf(resource: string): readonly string[] {
    return [this.keyOf(resource)];
  }

  keyOf(resource: string): string {
    return `${this.#base}:${resource}`;
  }

  /** A key, or the beginning of some, that no resource has; also that of channels. */
  own(word: string): string {
    return `${this.#base}!${word}`;
  }

  /** The key of a resource's kept text, which outlives its queue. */
  keptOf(resource: string): string {
    return `${this.own('kept')}${this.beside(this.keyOf(resource))}:${resource}`;
  }

  /** What puts another key into the slot of this one. */
  beside(key: string): string {
    return this.many ? `{${tagOf(slotOf(key))}}` : '';
  }

  nameOf(key: string): string {
    return key.slice(this.#base.length + 1);
  }

  /** The record of the server whose lowest slot this is. */
  serverRecordOf(slot: number): string {
    return `${this.own('record:server')}{${tagOf(slot)}}`;
  }

  recordOf(key: string): string {
    return `${this.own('record')}${this.beside(key)}`;
  }
}

/** A resource has the key that other programs use; our own keys are beside it. */
export class PlainPlaces extends Places {
  readonly #key: (name: string) => string;

  constructor(namespace: string, cluster: boolean, key: (name: string) => string) {
    super(namespace, cluster);
    this.#key = key;
  }

  override keysOf({ resource, id }: Claim): readonly string[] {
    const key = this.keyOf(resource);
    return [key, `${this.own('gone')}:${id}${this.beside(key)}`];
  }

  override keyOf(resource: string): string {
    const key = this.#key(resource);
    if (typeof key !== 'string' || key === '') {
      throw new UsageError(`key(name) must return text, not ${show(key)}.`, { resource });
    }
    const own = this.own('');
    if (!key.startsWith(own)) return key;
    throw new UsageError(`Keys with ${show(own)} are the store's own.`, { resource });
  }

  /** Not that of the queue with this name, which is another lock. */
  override keptOf(resource: string): string {
    const key = this.keyOf(resource);
    return `${this.own('kept/shared')}${this.beside(key)}:${key}`;
  }

  /** Not that of queues, whose programs may have another `maxTtl`. */
  override recordOf(key: string): string {
    return `${this.own('record:shared')}${this.beside(key)}`;
  }
}
