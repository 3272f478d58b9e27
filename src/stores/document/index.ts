import { type Clock, checkClock } from '../../base/clock.ts';
import { UsageError } from '../../base/errors.ts';
import { checkOptions, wholeNumber } from '../../base/options.ts';
import type { Store } from '../../contract/store.ts';
import { DocumentStore } from './document-store.ts';
import type { Documents } from './documents.ts';

export type { Documents } from './documents.ts';

export interface DocumentStoreOptions {
  /** Longest queue of waiting claims of one resource; default 100. */
  readonly maxWaiters?: number;
  readonly clock?: Clock;
}

/**
 * Locks in any service that writes a text on the condition that it has not changed.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { documentStore } from 'holdfast/document';
 *
 * const locks = createLocks(documentStore(documents));
 *
 * @throws UsageError
 */
export function documentStore(documents: Documents, options: DocumentStoreOptions = {}): Store {
  const { get, put, slackMs = 0 } = documents ?? {};
  if (typeof get !== 'function' || typeof put !== 'function') {
    throw new UsageError('documentStore takes documents with get() and put().');
  }
  if (!(slackMs >= 0)) throw new UsageError('slackMs of documents must be 0 or more, in ms.');
  return new DocumentStore({ documents, ...checkOptions(options, CHECKS, 'documentStore') });
}

const CHECKS = {
  maxWaiters: wholeNumber(0, Number.POSITIVE_INFINITY, 100),
  clock: checkClock,
};
