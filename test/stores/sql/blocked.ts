import { markBlocked } from '../../../src/clients/sql/judge.ts';
import { temporaryFailure } from '../../../src/contract/errors.ts';

/** What a database answers where another session keeps the row. */
export function blocked(): Error {
  const error = temporaryFailure('Another session keeps the row.');
  markBlocked(error);
  return error;
}
