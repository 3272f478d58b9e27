/** The errors of services over HTTP as `StoreError`s. */
import { isLockError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { describe } from '../causes.ts';
import { type Fate, fateOf, isRepeated, isUnsent } from './fate.ts';

const ADVICE: Readonly<Record<Fate, string>> = {
  refused: 'refused the condition of a request',
  missing: 'does not have what the locks are kept in',
  later: 'is too busy, or cannot be reached',
  never: 'refused the request',
  unsupported: 'does not support such requests',
  unknown: 'failed, or could not be heard',
};

/**
 * @param what names the service.
 * @param fate what is known from the service's own codes; default: by the HTTP status.
 */
export function failureOf(
  what: string,
  error: unknown,
  fate: Fate = isUnsent(error) ? 'later' : fateOf(error),
): StoreError {
  if (isLockError(error, 'STORE')) return error as StoreError;
  return new StoreError(`${what} ${ADVICE[fate]} (${describe(error)}).`, {
    cause: error,
    retryable: ['refused', 'later', 'unknown'].includes(fate),
    outcome: fate === 'unknown' || isRepeated(error) ? 'unknown' : 'failed',
  });
}
