import type { ClaimStatus, Wake } from 'holdfast/store';
import { type BrokenStore, broken } from './broken-store.ts';

/** Stores whose hints are not what they should be. */
export const BROKEN_HINTS: readonly BrokenStore[] = [
  broken('hints never come', /^hints: (of twelve, a release|hints reach other)/, () => ({
    watch: async () => ({ [Symbol.asyncDispose]: async () => {} }),
  })),
  broken('every release wakes everybody', /^hints: of twelve, a release/, (store) => {
    const wakes = new Set<Wake>();
    return {
      watch: (claim, wake) => {
        wakes.add(wake);
        return store.watch(claim, wake);
      },
      async release(claims, after) {
        const answers = await store.release(claims, after);
        for (const wake of wakes) wake();
        return answers;
      },
    };
  }),
  broken('hints go by the first word of the name', /^hints: hints reach their claim/, (store) => {
    const wakes = new Map<string, Set<Wake>>();
    return {
      watch: (claim, wake) => {
        const word = claim.resource.split(/[^\w/]/)[0] ?? '';
        const listeners = wakes.get(word) ?? new Set();
        wakes.set(word, listeners.add(wake));
        const tellAll = () => {
          for (const each of listeners) each();
        };
        return store.watch(claim, tellAll);
      },
    };
  }),
  broken('hints name the claim', /^hints: hints do not give ids away/, (store) => ({
    watch: (claim, wake) =>
      store.watch(claim, (hint) => wake({ ...hint, detail: claim.id } as ClaimStatus)),
  })),
  broken(
    'the first subscription that ends ends all',
    /^hints: a subscription that ends leaves the others/,
    (store) => {
      let ended = false;
      return {
        watch: async (claim, wake) => {
          await store.watch(claim, (hint) => !ended && wake(hint));
          return {
            [Symbol.asyncDispose]: async () => {
              ended = true;
            },
          };
        },
      };
    },
  ),
];
