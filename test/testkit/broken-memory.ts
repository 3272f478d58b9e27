import type { Store } from 'holdfast';
import type { ClaimStatus } from 'holdfast/store';
import type { BrokenStore } from './broken-stores.ts';

/** Changes what `claim` and `renew` answer. */
export function answering(
  store: Store,
  change: (status: ClaimStatus) => ClaimStatus,
): Partial<Store> {
  return {
    claim: async (claims) => (await store.claim(claims)).map(change),
    renew: async (claims) => (await store.renew(claims)).map(change),
  };
}

/** Stores that do not know that they have lost their memory, or do not say so. */
export const BROKEN_MEMORY: readonly BrokenStore[] = [
  {
    fault: 'a store that forgot grants at once',
    noticed: /^data loss: (no claim is admitted|after the quarantine)/,
    break: (store) =>
      answering(store, (status) =>
        status.state === 'waiting' && status.why === 'data-loss'
          ? { state: 'held', token: 1n, leftMs: status.leftMs, waiters: 0 }
          : status,
      ),
  },
  {
    fault: 'whoever is forgotten is told that he has expired',
    noticed: /^data loss: holders and waiters are told/,
    break: (store) =>
      answering(store, (status) =>
        status.state === 'gone' ? { state: 'gone', why: 'expired' } : status,
      ),
  },
  {
    fault: 'tokens start again under the same lineage',
    noticed: /^data loss: tokens grow/,
    break: () => ({ lineage: 'always the same' }),
  },
];
