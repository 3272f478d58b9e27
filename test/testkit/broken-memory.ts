import type { Store } from 'holdfast';
import type { ClaimStatus } from 'holdfast/store';
import { type BrokenStore, broken } from './broken-store.ts';

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

/** Changes what they say of claims in this state. */
export function telling<State extends ClaimStatus['state']>(
  store: Store,
  state: State,
  change: Partial<Extract<ClaimStatus, { state: State }>>,
): Partial<Store> {
  return answering(store, (status) =>
    status.state === state ? ({ ...status, ...change } as ClaimStatus) : status,
  );
}

/** Stores that do not know that they have lost their memory, or do not say so. */
export const BROKEN_MEMORY: readonly BrokenStore[] = [
  broken(
    'a store that forgot grants at once',
    /^data loss: (no claim is admitted|after the quarantine)/,
    (store) =>
      answering(store, (status) =>
        status.state === 'waiting' && status.why === 'data-loss'
          ? { state: 'held', token: 1n, leftMs: status.leftMs, waiters: 0 }
          : status,
      ),
  ),
  broken(
    'whoever is forgotten is told that he has expired',
    /^data loss: holders and waiters are told/,
    (store) => telling(store, 'gone', { why: 'expired' }),
  ),
  broken('tokens start again under the same lineage', /^data loss: tokens grow/, () => ({
    lineage: 'always the same',
  })),
];
