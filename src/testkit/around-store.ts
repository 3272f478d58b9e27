import {
  type Claim,
  OPTIONAL_VERBS,
  type OptionalVerb,
  type Store,
  type Traits,
} from '../contract/store.ts';

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
  const { list, close, maxTtlMs } = store;
  const partOf = store.partOf?.bind(store);
  const others = OPTIONAL_VERBS.filter((verb) => verb !== 'list' && store[verb]).map((verb) => {
    const own = store[verb] as unknown as AnyVerb;
    const wrapped: AnyVerb = (...args) =>
      around({ verb, claims: claimsIn(args[0]) }, async () => own.apply(store, args));
    return [verb, wrapped] as const;
  });
  return {
    name: store.name,
    traits,
    ...(maxTtlMs !== undefined && { maxTtlMs }),
    ...(partOf && { partOf }),
    get lineage() {
      return store.lineage;
    },
    claim: (claims) => around({ verb: 'claim', claims }, () => store.claim(claims)),
    renew: (claims) => around({ verb: 'renew', claims }, () => store.renew(claims)),
    release: (claims, after) =>
      around({ verb: 'release', claims }, () => store.release(claims, after)),
    inspect: (resource) => around({ verb: 'inspect', claims: [] }, () => store.inspect(resource)),
    ...Object.fromEntries(others),
    ...(list && {
      async *list(prefix) {
        yield* await around({ verb: 'list', claims: [] }, async () => list.call(store, prefix));
      },
    }),
    ...(close && { close: () => close.call(store) }),
  };
}

type AnyVerb = (...args: unknown[]) => unknown;

/** Those that a verb is about, by what it takes first. */
function claimsIn(first: unknown): readonly Claim[] {
  if (Array.isArray(first)) return first;
  return typeof first === 'object' && first !== null ? [first as Claim] : [];
}
