/** Failures that concern one claim, and not the whole request. */
import { StoreError, toStoreError } from '../../contract/errors.ts';
import type { ClaimStatus } from '../../contract/store.ts';

/** Attempts, when others keep changing the same claim or record. */
export const MOST_TRIES = 8;

/** After that many. */
export function tooBusy(message: string): StoreError {
  return new StoreError(message, { retryable: true, outcome: 'failed' });
}

/** Only this claim failed. */
export function errorStatus(error: unknown): ClaimStatus {
  return { state: 'error', error: toStoreError(error) };
}
