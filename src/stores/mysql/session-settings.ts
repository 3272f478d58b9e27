/**
 * The settings of each session of a store, whatever the server's defaults are.
 *
 * Verbs begin and commit a transaction of their own at READ COMMITTED. All other statements, the
 * call that listens for news among them, rely on this:
 * - autocommit, or the first look would open a transaction that never ends, and sees no news in it,
 *   or locks what it has seen (SERIALIZABLE); and COMMIT begins no other one (`completion_type`);
 * - READ COMMITTED, because a hint grants like a reply: no claim may learn what is not committed;
 * - READ WRITE, and no limits to what a statement changes or returns;
 * - a wait for a row that no verb has limited, as that of a sweep, ends soon; a wait for a table
 *   that is being altered ends after the connection has been given up, or such sessions would pile
 *   up in the server;
 * - one time zone for all times that are compared.
 * What would break it: a proxy that gives statements of one session to several, and does not carry
 * these settings along.
 */
import { type Connect, first } from './connection.ts';

const SETTINGS = `SET NAMES utf8mb4, autocommit = 1, completion_type = 0, time_zone = '+00:00',
  sql_safe_updates = 0, sql_select_limit = 18446744073709551615, innodb_lock_wait_timeout = 1,
  lock_wait_timeout = 5`;

const LEVEL = 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE';

/** Connects, and applies the settings to the session. */
export function prepared(connect: Connect): Connect {
  return async (terms) => {
    const connection = await connect(terms);
    return first(connection, terms.signal, async () => {
      await connection.query(SETTINGS);
      await connection.query(LEVEL);
      return connection;
    });
  };
}
