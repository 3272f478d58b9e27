/**
 * The keys of the store. A resource has one key, and one for its kept text; the record of the store
 * must be in the same slot, so that one script may touch them all: a cluster has one for each slot
 * in use, and one for each server.
 */

import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { slotOf, tagOf } from '../../clients/redis/slots.ts';
import type { Claim } from '../../contract/store.ts';

export class Places {
  /** There is a record for each slot. */
  readonly many: boolean;
  readonly namespace: string;

  constructor(namespace: string, cluster: boolean) {
    this.many = cluster;
    this.namespace = namespace;
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
    return `${this.namespace}:${resource}`;
  }

  /** The key of a resource's kept text, which outlives its queue. */
  keptOf(resource: string): string {
    return `${this.namespace}!kept${this.beside(this.keyOf(resource))}:${resource}`;
  }

  /** What puts another key into the slot of this one. */
  beside(key: string): string {
    return this.many ? `{${tagOf(slotOf(key))}}` : '';
  }

  nameOf(key: string): string {
    return key.slice(this.namespace.length + 1);
  }

  /** The record of the server whose lowest slot this is. */
  serverRecordOf(slot: number): string {
    return `${this.namespace}!store:server{${tagOf(slot)}}`;
  }

  recordOf(key: string): string {
    return `${this.namespace}!store${this.beside(key)}`;
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
    return [key, `${this.namespace}!gone:${id}${this.beside(key)}`];
  }

  override keyOf(resource: string): string {
    const key = this.#key(resource);
    if (typeof key !== 'string' || key === '') {
      throw new UsageError(`key(name) must return text, not ${show(key)}.`, { resource });
    }
    const own = `${this.namespace}!`;
    if (!key.startsWith(own)) return key;
    throw new UsageError(`Keys with ${show(own)} are the store's own.`, { resource });
  }
}
