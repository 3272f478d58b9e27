/** Redisson's keys and channels, and ours beside them. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { tagIn } from '../../clients/redis/slots.ts';
import type { Claim, Kind } from '../../contract/store.ts';
import { PlainPlaces } from '../../stores/redis/places.ts';

const CHANNELS: Readonly<Record<Kind, string>> = {
  mutex: 'redisson_lock__channel',
  read: 'redisson_rwlock',
  write: 'redisson_rwlock',
  permits: 'redisson_sc',
};

/** What Redisson begins the keys with that it has beside those of locks. */
const RESERVED = 'redisson_';

/** Each is written by one call of its script. */
const MAX_PERMITS = 1000;

export class RedissonPlaces extends PlainPlaces {
  readonly #fair: boolean;

  /** @param fair a mutex is a fair lock. */
  constructor(fair: boolean, ...own: ConstructorParameters<typeof PlainPlaces>) {
    super(...own);
    this.#fair = fair;
  }

  override keysOf({ resource, id, kind, permits }: Claim): readonly string[] {
    if (kind === 'permits' && permits > MAX_PERMITS) {
      const message = `redissonStore takes at most ${MAX_PERMITS} permits at once, not ${permits}.`;
      throw new UsageError(message, { resource });
    }
    return this.#keysOf(resource, id);
  }

  #keysOf(resource: string, id: string): readonly string[] {
    const key = this.keyOf(resource);
    const name = braced(key);
    const tag = this.beside(key);
    return [
      key,
      `${this.own('gone')}:${id}${tag}`,
      `${this.own('notes')}${tag}:${key}`,
      ...(this.#fair
        ? [`redisson_lock_queue:${name}`, `redisson_lock_timeout:${name}`]
        : [
            `${name}:${threadOf(id)}:rwlock_timeout:1`,
            `${name}:timeout`,
            `redisson_lock_token:${name}`,
          ]),
    ];
  }

  override lookOf(resource: string): readonly string[] {
    return this.#keysOf(resource, '');
  }

  override keyOf(resource: string): string {
    const key = super.keyOf(resource);
    if (key.startsWith(RESERVED)) {
      throw new UsageError(`Redisson has keys of its own that begin with ${show(RESERVED)}.`, {
        resource,
      });
    }
    // Redisson's other keys would be in another slot, as they are for Redisson itself.
    if (this.many && key.includes('{') && tagIn(key) === undefined) {
      throw new UsageError(`A brace in ${show(key)} must be closed, in a cluster.`, { resource });
    }
    return key;
  }

  /** Where Redisson says that a lock is free: to all, or to the first waiter of a fair lock. */
  channelOf({ resource, kind, id }: Claim): string {
    const channel = `${CHANNELS[kind]}:${braced(this.keyOf(resource))}`;
    return this.#fair ? `${channel}:${threadOf(id)}` : channel;
  }
}

function threadOf(id: string): string {
  return `${id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}:1`;
}

function braced(key: string): string {
  return key.includes('{') ? key : `{${key}}`;
}
