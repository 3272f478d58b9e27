/** The keys and channels of Redisson, and our own beside them. */
import { UsageError } from '../../../base/errors.ts';
import { show } from '../../../base/show.ts';
import { slotOf, tagOf } from '../../../clients/redis/slots.ts';
import type { Claim, Kind } from '../../../contract/store.ts';
import { Places } from '../places.ts';

const CHANNELS: Readonly<Record<Kind, string>> = {
  mutex: 'redisson_lock__channel',
  read: 'redisson_rwlock',
  write: 'redisson_rwlock',
  permits: 'redisson_sc',
};

export class RedissonPlaces extends Places {
  readonly #own: string;
  readonly #key: (name: string) => string;

  constructor(namespace: string, cluster: boolean, key: (name: string) => string) {
    super(namespace, cluster);
    this.#own = namespace;
    this.#key = key;
  }

  override keysOf({ resource, id }: Pick<Claim, 'resource' | 'id'>): readonly string[] {
    const key = this.keyOf(resource);
    const tag = this.many ? `{${tagOf(slotOf(key))}}` : '';
    const holder = `${id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}:1`;
    return [
      key,
      `${this.#own}!gone:${id}${tag}`,
      `${this.#own}!notes${tag}:${key}`,
      `${braced(key)}:${holder}:rwlock_timeout:1`,
      `${braced(key)}:timeout`,
      `redisson_lock_token:${braced(key)}`,
    ];
  }

  override lookOf(resource: string): readonly string[] {
    return this.keysOf({ resource, id: '' });
  }

  override keyOf(resource: string): string {
    const key = this.#key(resource);
    if (typeof key !== 'string' || key === '') {
      throw new UsageError(`key(name) must return text, not ${show(key)}.`, { resource });
    }
    // Redisson's other keys would be in another slot, as they are for Redisson itself.
    const open = key.indexOf('{');
    if (this.many && open !== -1 && key.indexOf('}', open) <= open + 1) {
      throw new UsageError(`A brace in ${show(key)} must be closed, in a cluster.`, { resource });
    }
    return key;
  }

  /** Where Redisson says that a lock is free. */
  channelOf({ resource, kind }: Claim): string {
    return `${CHANNELS[kind]}:${braced(this.keyOf(resource))}`;
  }
}

function braced(key: string): string {
  return key.includes('{') ? key : `{${key}}`;
}
