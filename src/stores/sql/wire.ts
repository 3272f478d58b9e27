/** What a store in a database needs of a connection. */
import type { MessageSource, Source, Wire } from '../../clients/wire.ts';

export interface SqlWire extends Wire {
  /**
   * Sends the statement of that name, each a transaction of its own unless it says otherwise;
   * resolves with the first column of its rows.
   */
  call(statement: string, args: readonly string[]): Promise<readonly string[]>;
}

/** The message of a server that sends none: the statement `look` may find wakes. */
export const LOOK = '';

export interface SqlSource extends Source<SqlWire>, Pick<MessageSource, 'own'> {}

/** The common part of all sources. */
export const SQL_SERVER: Pick<SqlSource, 'server' | 'silenceMs' | 'atOnce'> = {
  server: 'the database',
  // Longer than any statement waits for a lock.
  silenceMs: 3000,
  atOnce: 1,
};
