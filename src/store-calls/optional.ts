import { UnsupportedError } from '../contract/errors.ts';
import type { OptionalVerb, Store } from '../contract/store.ts';

/**
 * A verb that the store may lack.
 * @throws UnsupportedError
 */
export function verbOf<V extends OptionalVerb>(store: Store, verb: V): NonNullable<Store[V]> {
  const found = store[verb];
  if (!found) throw new UnsupportedError(verb, `The ${store.name} store cannot ${verb}.`);
  return found.bind(store) as NonNullable<Store[V]>;
}
