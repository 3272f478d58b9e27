import type { ClaimStatus, Wake } from 'holdfast/store';
import type { BrokenStore } from './broken-stores.ts';

/** Stores whose hints are not what they should be. */
export const BROKEN_HINTS: readonly BrokenStore[] = [
  {
    fault: 'hints never come',
    noticed: /^hints: (of twelve, a release|hints reach other)/,
    break: () => ({ watch: async () => ({ [Symbol.asyncDispose]: async () => {} }) }),
  },
  {
    fault: 'every release wakes everybody',
    noticed: /^hints: of twelve, a release/,
    break(store) {
      const wakes = new Set<Wake>();
      return {
        watch: (claim, wake) => {
          wakes.add(wake);
          return store.watch?.(claim, wake) ?? Promise.reject();
        },
        async release(claims, after) {
          const answers = await store.release(claims, after);
          for (const wake of wakes) wake();
          return answers;
        },
      };
    },
  },
  {
    fault: 'hints go by the first word of the name',
    noticed: /^hints: hints reach their claim/,
    break(store) {
      const wakes = new Map<string, Set<Wake>>();
      return {
        watch: async (claim, wake) => {
          const word = claim.resource.split(/[^\w/]/)[0] ?? '';
          const listeners = wakes.get(word) ?? new Set();
          wakes.set(word, listeners.add(wake));
          const tellAll = () => {
            for (const each of listeners) each();
          };
          return (await store.watch?.(claim, tellAll)) ?? Promise.reject();
        },
      };
    },
  },
  {
    fault: 'hints name the claim',
    noticed: /^hints: hints do not give ids away/,
    break: (store) => ({
      watch: async (claim, wake) => {
        const tell: Wake = (hint) => wake({ ...hint, detail: claim.id } as ClaimStatus);
        return (await store.watch?.(claim, tell)) ?? Promise.reject();
      },
    }),
  },
  {
    fault: 'the first subscription that ends ends all',
    noticed: /^hints: a subscription that ends leaves the others/,
    break(store) {
      let ended = false;
      return {
        watch: async (claim, wake) => {
          await store.watch?.(claim, (hint) => !ended && wake(hint));
          return {
            [Symbol.asyncDispose]: async () => {
              ended = true;
            },
          };
        },
      };
    },
  },
];
