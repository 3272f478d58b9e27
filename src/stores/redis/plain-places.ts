import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { slotOf, tagOf } from '../../clients/redis/slots.ts';
import type { Claim } from '../../contract/store.ts';
import { Places } from './places.ts';

/** A resource has the key that other programs use; our own keys are beside it. */
export class PlainPlaces extends Places {
  readonly #tombstone: string;
  readonly #key: (name: string) => string;

  constructor(namespace: string, cluster: boolean, key: (name: string) => string) {
    super(namespace, cluster);
    this.#tombstone = `${namespace}!gone:`;
    this.#key = key;
  }

  override keysOf({ resource, id }: Claim): readonly string[] {
    const key = this.keyOf(resource);
    const tag = this.many ? `{${tagOf(slotOf(key))}}` : '';
    return [key, `${this.#tombstone}${id}${tag}`];
  }

  override keyOf(resource: string): string {
    const key = this.#key(resource);
    if (typeof key === 'string' && key !== '') return key;
    throw new UsageError(`key(name) must return text, not ${show(key)}.`, { resource });
  }
}
