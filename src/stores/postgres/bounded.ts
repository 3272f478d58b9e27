/**
 * No statement waits for a lock of the server for longer than the store waits for its reply.
 *
 * A client that gives a statement up drops the connection, but a server whose session waits for a
 * lock does not notice that: the session would stay until the lock is free, and one more for each
 * attempt. So every statement sets the limit before it touches a table, for its own transaction:
 * behind a pooler, another client uses the session next. A verb then sets a shorter one.
 */

/** The longest patience of a verb, and less than a connection may be silent. */
const LONGEST_MS = 2000;

/** The statement that selects `what` under this limit. */
export function bounded(what: string): string {
  const limit = `SELECT set_config('lock_timeout', '${LONGEST_MS}', true)`;
  return `SELECT ${what} FROM (${limit}) AS bounded`;
}
