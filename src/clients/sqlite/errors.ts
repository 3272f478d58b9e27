/**
 * What SQLite's result codes mean to a caller.
 *
 * Every step is one transaction, so a step that fails before the commit has not happened. Only an
 * input or output error may strike in the middle of a commit and leave the outcome unknown.
 */
import { messageOf } from '../../base/errors.ts';
import { StoreError, temporaryFailure } from '../../contract/errors.ts';

const BUSY =
  'was locked by another connection for too long. Look for a program that keeps a transaction' +
  ' open on it, or give the locks a file of their own';
const DAMAGED =
  'is not an SQLite database, or damaged. If the path is right, stop the programs that use it' +
  ' and move it away together with its -wal and -shm files: it holds nothing but locks';
const READ_ONLY =
  'cannot be written. Locks need write permission on the file and on its directory, where' +
  ' SQLite keeps the -wal and -shm files';
const TROUBLE =
  'could not be read or written by the operating system. Look at the disk and its log';
const FULL = 'cannot grow: the disk, the quota or max_page_count is used up. Free some space';
const UNOPENED = 'cannot be opened. It must be a file, or none yet, in a writable directory';

/**
 * By their codes: what it means, and SQLite's own words, for the binding that passes on nothing
 * else: `exec` of Deno. A step that may work `later` has failed; `unclear`: it may have happened.
 */
const MEANINGS: readonly (readonly [
  code: number,
  name: string,
  says: string,
  fate: 'later' | 'never' | 'unclear',
  advice: string,
])[] = [
  [5, 'SQLITE_BUSY', 'database is locked', 'later', BUSY],
  [6, 'SQLITE_LOCKED', 'database table is locked', 'later', BUSY],
  [8, 'SQLITE_READONLY', 'attempt to write a readonly database', 'never', READ_ONLY],
  [10, 'SQLITE_IOERR', 'disk I/O error', 'unclear', TROUBLE],
  [11, 'SQLITE_CORRUPT', 'database disk image is malformed', 'never', DAMAGED],
  [13, 'SQLITE_FULL', 'database or disk is full', 'later', FULL],
  [14, 'SQLITE_CANTOPEN', 'unable to open database file', 'never', UNOPENED],
  [15, 'SQLITE_PROTOCOL', 'locking protocol', 'later', BUSY],
  [26, 'SQLITE_NOTADB', 'file is not a database', 'never', DAMAGED],
];
const UNKNOWN = [0, 'SQLite', '', 'never', 'failed'] as const;

const IN_TRANSACTION = 'cannot start a transaction within a transaction';

/** The same step may work in a moment: the file, or the connection, is in use. */
export function isBusy(error: unknown): boolean {
  return meaningOf(error)[4] === BUSY || messageOf(error).includes(IN_TRANSACTION);
}

export function sqliteError(error: unknown, file: string): StoreError {
  const said = messageOf(error);
  if (said.includes(IN_TRANSACTION)) {
    const what = `The database object for ${file} is still in a transaction of the program.`;
    return temporaryFailure(`${what} Give the locks a connection of their own.`, error);
  }
  const [, name, , fate, advice] = meaningOf(error);
  return new StoreError(`The lock database ${file} ${advice} (${name}: ${said}).`, {
    cause: error,
    retryable: fate !== 'never',
    outcome: fate === 'unclear' ? 'unknown' : 'failed',
  });
}

/** Each binding has its own place for the result code. */
function meaningOf(error: unknown): (typeof MEANINGS)[number] {
  const { errcode, rawCode, code } = (error ?? {}) as Record<string, unknown>;
  // libsql gives the reason why it could not open a file only in the text.
  const opening = /local database .*: (\d+)"?\)?$/s.exec(messageOf(error))?.[1];
  const number = errcode ?? rawCode ?? opening;
  const known = MEANINGS.find(([own, name, says]) => {
    if (number !== undefined) return own === (Number(number) & 0xff);
    if (code === name || String(code).startsWith(`${name}_`)) return true;
    return code === 'ERR_SQLITE_ERROR' && messageOf(error).startsWith(says);
  });
  return known ?? UNKNOWN;
}
