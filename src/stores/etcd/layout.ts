/**
 * The layout of keys in etcd.
 *
 * A claim is `<prefix><name>/<id>`, as etcd's own `concurrency` package lays out its locks, so that
 * programs in Go and `etcdctl lock <prefix><name>` stand in the same queues. Deeper keys belong to
 * their locks whose names have a slash, and never to ours.
 * Right before the claims of a name, and before nothing else, is the note on how the last hold
 * ended: one watch sees both, in order. Tombstones, marks of leases, and records are at
 * `<prefix>%/…`, which is no name.
 * Names stay as they are, except where two would become one, or one a part of another.
 */
import type { Clock } from '../../base/clock.ts';
import type { EtcdClient, KeyRange } from '../../clients/etcd/client.ts';

export interface EtcdContext {
  readonly client: EtcdClient;
  readonly keys: KeySpace;
  readonly clock: Clock;
}

/** Greater than all text that names are made of. */
const LAST = '\u{10ffff}';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be found.
const SPECIAL = /[%/\u0000-\u001f\u007f\u{10ffff}]/gu;

export class KeySpace {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  claim(resource: string, id: string): string {
    return `${this.#of(resource)}/${id}`;
  }

  claims(resource: string): Required<KeyRange> {
    const of = this.#of(resource);
    return { key: `${of}/`, end: `${of}0` };
  }

  /** Whether this key is a claim of the resource, and no deeper. */
  isClaim(resource: string, key: string): boolean {
    const { length } = this.#of(resource);
    return key.length > length + 1 && key.lastIndexOf('/') === length;
  }

  /** How the last hold ended. */
  note(resource: string): string {
    return `${this.#of(resource)}.${LAST}`;
  }

  /** The note and the claims. */
  queue(resource: string): Required<KeyRange> {
    const of = this.#of(resource);
    return { key: `${of}.${LAST}`, end: `${of}0` };
  }

  tombstone(id: string): string {
    return `${this.#prefix}%/${id}`;
  }

  /** A record of finished work: beside the tombstones, whose ids are hexadecimal. */
  record(resource: string): string {
    return `${this.#prefix}%/kept-${resource.replace(SPECIAL, encodeURIComponent)}`;
  }

  /** Claims on this lease are compared with it. */
  mark(lease: bigint): string {
    return `${this.#prefix}%/lease-${lease.toString(16)}`;
  }

  /** All keys of names that begin like this. */
  beginning(name: string): Required<KeyRange> {
    const of = this.#of(name);
    return { key: of, end: of === '' ? LAST : `${of}${LAST}` };
  }

  /** The resource of a claim's key; else undefined. */
  resourceOf(key: string): string | undefined {
    const parts = key.slice(this.#prefix.length).split('/');
    const [name = '', id = ''] = parts;
    if (parts.length !== 2 || name === '%' || id === '') return undefined;
    try {
      return decodeURIComponent(name.replace(/%(?![0-9A-F]{2})/g, '%25'));
    } catch {
      return undefined;
    }
  }

  #of(resource: string): string {
    return this.#prefix + resource.replace(SPECIAL, encodeURIComponent);
  }
}

export function idIn(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
