import { StoreError } from '../../contract/errors.ts';

/** Attempts, when others keep changing the same claim or record. */
export const MOST_TRIES = 8;

/** After that many. */
export function tooBusy(message: string): StoreError {
  return new StoreError(message, { retryable: true, outcome: 'failed' });
}
