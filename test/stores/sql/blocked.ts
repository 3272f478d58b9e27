import { judge } from '../../../src/clients/postgres/errors.ts';

/** What a database answers where another session keeps the row. */
export function blocked(): Error {
  return judge({ severity: 'ERROR', code: '55P03' }, 'call').error;
}
