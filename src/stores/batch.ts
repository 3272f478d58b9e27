/** The claims of one batch: a step for each of them, and those that belong together. */
import { toStoreError } from '../contract/errors.ts';
import type { Claim, ClaimStatus, Store } from '../contract/store.ts';

/** The types of its verbs, which the contract has declared. */
export type StoreVerbs = Required<Store>;

/** A step for each claim, all at once; where one fails, the others do not. */
export function each(
  claims: readonly Claim[],
  step: (claim: Claim, nth: number) => Promise<ClaimStatus>,
): Promise<ClaimStatus[]> {
  return Promise.all(claims.map((claim, nth) => step(claim, nth).catch(errorStatus)));
}

/** Only this claim failed. */
export function errorStatus(error: unknown): ClaimStatus {
  return { state: 'error', error: toStoreError(error) };
}

export function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
