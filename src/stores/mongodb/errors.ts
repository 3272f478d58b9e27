/** The errors of MongoDB and its driver as `StoreError`s. */

import type { ErrorMeaning } from '../../clients/breaks.ts';
import { describe } from '../../clients/causes.ts';
import { StoreError } from '../../contract/errors.ts';

interface MongoError {
  readonly name?: string;
  readonly code?: number;
  hasErrorLabel?(label: string): boolean;
}

const refused = (retryable: boolean, advice: string): ErrorMeaning => {
  return { retryable, outcome: 'failed', advice };
};
const unclear = (advice: string): ErrorMeaning => ({ retryable: true, outcome: 'unknown', advice });

/** By the server's code. */
const CODES: Readonly<Record<number, ErrorMeaning>> = {
  13: refused(false, 'does not permit this user to do that'),
  18: refused(false, 'does not know this user and password'),
  20: refused(false, 'is no replica set. Start it with --replSet, and initiate the set'),
  50: unclear('waited too long for the other servers'),
  64: unclear('waited too long for the other servers'),
  91: unclear('is shutting down'),
  123: refused(false, 'is no replica set. Start it with --replSet, and initiate the set'),
  189: unclear('is no longer the primary'),
  10107: refused(true, 'is not the primary'),
  11600: unclear('is shutting down'),
  11602: unclear('has changed its role meanwhile'),
  13435: refused(true, 'is not the primary'),
  13436: refused(true, 'is not the primary'),
  // No change streams on a server that is alone.
  40573: refused(false, 'is no replica set. Start it with --replSet, and initiate the set'),
};

const DUPLICATE_KEY = 11000;

export function isDuplicate(error: unknown): boolean {
  return (error as MongoError).code === DUPLICATE_KEY;
}

export function storeError(error: unknown): StoreError {
  const { retryable, outcome, advice } = meaningOf((error ?? {}) as MongoError);
  return new StoreError(`The MongoDB server ${advice} (${describe(error)}).`, {
    cause: error,
    retryable,
    outcome,
  });
}

function meaningOf(error: MongoError): ErrorMeaning {
  const known = CODES[error.code ?? -1];
  if (known) return known;
  if (error.name === 'MongoServerSelectionError') return refused(true, 'cannot be reached');
  if (error.name === 'MongoServerError' && !error.hasErrorLabel?.('RetryableWriteError')) {
    return refused(false, 'refused the request');
  }
  return unclear('broke the connection, or failed');
}
