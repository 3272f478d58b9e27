import type { Store } from 'holdfast';

/** Two connections to the same data as one: chance decides which of them does what. */
export function takingTurns([one, other]: readonly [Store, Store], random: () => number): Store {
  const next = (): Store => (random() < 0.5 ? one : other);
  return {
    name: one.name,
    traits: one.traits,
    // Both have the same, once they know it.
    get lineage() {
      return one.lineage.length > other.lineage.length ? one.lineage : other.lineage;
    },
    claim: (claims) => next().claim(claims),
    ...(one.claimAll && {
      claimAll: (claims) => next().claimAll?.(claims) ?? missing('claimAll'),
    }),
    renew: (claims) => next().renew(claims),
    release: (claims, after) => next().release(claims, after),
    inspect: (resource) => next().inspect(resource),
    async watch(claim, wake) {
      const both = await Promise.all([one, other].map((store) => store.watch?.(claim, wake)));
      return {
        async [Symbol.asyncDispose]() {
          for (const subscription of both) await subscription?.[Symbol.asyncDispose]();
        },
      };
    },
    downgrade: (claim) => next().downgrade?.(claim) ?? missing('downgrade'),
    evict: (resource, number, options) =>
      next().evict?.(resource, number, options) ?? missing('evict'),
    ...(one.traits.records && {
      keep: (claim, record) => next().keep?.(claim, record) ?? missing('keep'),
      recall: async (resource) => next().recall?.(resource),
    }),
    ...(one.handOver && {
      handOver: (claim, ids) => next().handOver?.(claim, ids) ?? missing('handOver'),
    }),
    list: (prefix) => next().list?.(prefix) ?? missing('list'),
    async close() {
      for (const store of [one, other]) await store.close?.();
    },
  };
}

function missing(verb: string): never {
  throw new Error(`A store that takes turns needs ${verb}().`);
}
