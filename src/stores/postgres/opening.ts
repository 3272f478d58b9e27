/**
 * Checks a connection before the store claims anything on it.
 *
 * A pooler that gives each transaction another session of the server loses messages, prepared
 * statements and settings. Whatever works may work by luck, so the process number decides: the
 * server names one when the connection starts, and the session, when asked, names its own. A pooler
 * makes up the first. If the two differ, the store uses no LISTEN, no statement kept under a name,
 * and no setting of the session, which another client would inherit.
 */

import type { PostgresSession } from '../../clients/postgres/connection.ts';
import { POSTGRES } from '../../clients/postgres/errors.ts';
import { impossible, noPrimary } from '../../clients/sql/judge.ts';
import type { Warnings } from '../../clients/warnings.ts';
import { type KnownSchema, settle } from './history.ts';

/** How long a statement waits for a row, in ms: a slow commit keeps one that long. */
const ROW_MS = 50;

/** The oldest server on which all statements work. */
const OLDEST = 13;

const LOOK = `SELECT pg_backend_pid()::text, current_setting('server_version_num'),
  current_setting('server_encoding'), current_setting('client_encoding'),
  pg_is_in_recovery()::text, current_setting('transaction_read_only'), current_setting('fsync'),
  current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
  (SELECT count(*) FROM pg_stat_replication)::text`;

/** A time limit could end an idle session, or a commit's wait for a standby as if it were over. */
const SETTINGS: readonly (readonly [name: string, value: string, since: number])[] = [
  ['client_encoding', 'UTF8', 0],
  ['statement_timeout', '0', 0],
  ['lock_timeout', `${ROW_MS}`, 0],
  ['default_transaction_isolation', 'read committed', 0],
  ['idle_session_timeout', '0', 14],
  // Planned anew for each call, a statement takes twice as long.
  ['plan_cache_mode', 'force_generic_plan', 0],
];

export interface OpeningParts extends KnownSchema {
  readonly warnings: Warnings;
}

/** The session, with these statements first in each transaction. */
export function within(prelude: string, session: PostgresSession): Pick<PostgresSession, 'query'> {
  return { query: ({ text }) => session.query({ text: `${prelude}${text}` }) };
}

/**
 * Behind a pooler, the statements that must come first in each transaction; empty if the session is
 * the server's own.
 * @throws StoreError if locks cannot be kept there, and what the client throws.
 */
export async function check(connection: PostgresSession, parts: OpeningParts): Promise<string> {
  const { fast, warnings } = parts;
  const [row] = await connection.query({ text: LOOK });
  const [pid, version, server, client, standby, readOnly, ...durability] = row as string[];
  const major = Math.floor(Number(version) / 10_000);
  if (!(major >= OLDEST)) throw impossible(POSTGRES, `it is older than PostgreSQL ${OLDEST}`);
  if (server !== 'UTF8')
    throw impossible(POSTGRES, `its encoding is ${server}, but names are Unicode`);
  if (standby === 'true' || readOnly === 'on') throw noPrimary(POSTGRES);
  const direct = Number(pid) === connection.pid;
  if (!direct && client !== 'UTF8')
    throw impossible(POSTGRES, `the encoding of its client is ${client}`);
  warn(warnings, durability, fast);
  if (!direct) {
    const message =
      'Notifications do not come through the connection pooler, so the store polls. Give the' +
      ' locks a direct connection for quicker hand-offs.';
    warnings.warn('HOLDFAST_POOLER', message);
  }
  const [, commits] = durability;
  const commit = commitsOf(commits, fast);
  if (direct) {
    const settings = SETTINGS.filter(([, , since]) => major >= since)
      .map(([name, value]) => `set_config('${name}', '${value}', false)`)
      .concat(commit === undefined ? [] : `set_config('synchronous_commit', '${commit}', false)`);
    await connection.query({ text: `SELECT ${settings.join(', ')}` });
  }
  const prelude = direct ? '' : preludeOf(commit);
  const { hidden } = await settle(within(prelude, connection), parts);
  if (hidden) {
    const message =
      'The server does not tell which history its data has: this user may not call' +
      ' pg_control_system() or pg_current_wal_lsn(). So after every crash and fail-over the store' +
      ' grants nothing for maxTtl.';
    warnings.warn('HOLDFAST_HIDDEN_HISTORY', message);
  }
  return prelude;
}

/** How commits are to be, where the server has it otherwise. */
function commitsOf(commits: string | undefined, fast: boolean): string | undefined {
  if (fast) return 'off';
  return commits === 'off' ? 'on' : undefined;
}

/** It ends with the transaction, because another client has the server's session next. */
function preludeOf(commit: string | undefined): string {
  const commits = commit === undefined ? '' : `SET LOCAL synchronous_commit = ${commit}; `;
  const isolation = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED; ';
  return `${isolation}SET LOCAL lock_timeout = ${ROW_MS}; ${commits}`;
}

function warn(warnings: Warnings, durability: readonly string[], fast: boolean): void {
  const [fsync, commits, synchronous, standbys] = durability;
  if (fsync === 'off') {
    const message =
      'The server does not force its writes to disk (fsync is off): when its machine crashes,' +
      ' locks may be lost unnoticed, and two callers may hold the same one. Set fsync on.';
    warnings.warn('HOLDFAST_NO_FSYNC', message);
  }
  if (commits === 'off' && !fast) {
    const message =
      'synchronous_commit is off on this server. The store still commits locks with it on;' +
      " durability: 'fast' would not wait.";
    warnings.warn('HOLDFAST_ASYNC_COMMIT', message);
  }
  const split = splitBy(durability, fast);
  if (split !== undefined && (Number(standbys) > 0 || synchronous !== '')) {
    const message =
      'A primary that is cut off from its standbys keeps granting, beside the one promoted in its' +
      ` place, because commits do not wait for a standby: ${split}. Change that, or make sure` +
      ' that a primary is stopped before another one is promoted.';
    warnings.warn('HOLDFAST_SPLIT_PRIMARY', message);
  }
}

/** Why commits of the store do not wait for a standby; undefined if they do. */
function splitBy([, commits, synchronous]: readonly string[], fast: boolean): string | undefined {
  if (synchronous === '') return 'synchronous_standby_names is empty';
  if (fast) return "durability is 'fast'";
  return commits === 'local' ? 'synchronous_commit is local' : undefined;
}
