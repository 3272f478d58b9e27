import type { Claim, OptionalVerb, Store } from '../contract/store.ts';
import type { Traits } from '../contract/traits.ts';

export type Verb = 'claim' | 'renew' | 'release' | 'inspect' | OptionalVerb;

/** Called instead of a verb; `next` is the verb itself. `claims` are those of the request. */
export type Around = <T>(
  request: { readonly verb: Verb; readonly claims: readonly Claim[] },
  next: () => Promise<T>,
) => Promise<T>;

/**
 * The same store with a function around each of its verbs. Verbs that it lacks are missing too.
 *
 * @example
 * import { memoryStore } from 'holdfast/memory';
 * import { aroundStore } from 'holdfast/testkit';
 *
 * const told = aroundStore(memoryStore(), ({ verb, claims }, next) => {
 *   console.log(verb, claims.length);
 *   return next();
 * });
 *
 * @experimental
 */
export function aroundStore(store: Store, around: Around, traits: Traits = store.traits): Store {
  const { claimAll, watch, downgrade, raise, evict, keep, recall, handOver } = store;
  const { list, close, maxTtlMs } = store;
  const partOf = store.partOf?.bind(store);
  return {
    name: store.name,
    traits,
    ...(maxTtlMs !== undefined && { maxTtlMs }),
    ...(partOf && { partOf }),
    get lineage() {
      return store.lineage;
    },
    claim: (claims) => around({ verb: 'claim', claims }, () => store.claim(claims)),
    ...(claimAll && {
      claimAll: (claims) =>
        around({ verb: 'claimAll', claims }, () => claimAll.call(store, claims)),
    }),
    renew: (claims) => around({ verb: 'renew', claims }, () => store.renew(claims)),
    release: (claims, after) =>
      around({ verb: 'release', claims }, () => store.release(claims, after)),
    inspect: (resource) => around({ verb: 'inspect', claims: [] }, () => store.inspect(resource)),
    ...(watch && {
      watch: (claim, wake) =>
        around({ verb: 'watch', claims: [claim] }, async () => watch.call(store, claim, wake)),
    }),
    ...(downgrade && {
      downgrade: (claim) =>
        around({ verb: 'downgrade', claims: [claim] }, () => downgrade.call(store, claim)),
    }),
    ...(raise && {
      raise: (claims, numbers) =>
        around({ verb: 'raise', claims }, () => raise.call(store, claims, numbers)),
    }),
    ...(evict && {
      evict: (resource, number, options) =>
        around({ verb: 'evict', claims: [] }, () => evict.call(store, resource, number, options)),
    }),
    ...(keep && {
      keep: (claim, record) =>
        around({ verb: 'keep', claims: [claim] }, () => keep.call(store, claim, record)),
    }),
    ...(recall && {
      recall: (resource) =>
        around({ verb: 'recall', claims: [] }, () => recall.call(store, resource)),
    }),
    ...(handOver && {
      handOver: (claim, ids) =>
        around({ verb: 'handOver', claims: [claim] }, () => handOver.call(store, claim, ids)),
    }),
    ...(list && {
      async *list(prefix) {
        yield* await around({ verb: 'list', claims: [] }, async () => list.call(store, prefix));
      },
    }),
    ...(close && { close: () => close.call(store) }),
  };
}
