/**
 * What SQLite's result codes mean to a caller.
 *
 * Every step is one transaction, so a step that fails before the commit has not happened. Only an
 * input or output error may strike in the middle of a commit and leave the outcome unknown.
 */
import { messageOf } from '../../base/errors.ts';
import { StoreError, temporaryFailure } from '../../contract/errors.ts';
import type { ErrorMeaning } from '../breaks.ts';

interface SqliteMeaning extends ErrorMeaning {
  readonly name: string;
  /** SQLite's own words, for the binding that passes on nothing else: `exec` of Deno. */
  readonly says: string;
}

const BUSY: ErrorMeaning = {
  retryable: true,
  outcome: 'failed',
  advice:
    'was locked by another connection for too long. Look for a program that keeps a transaction' +
    ' open on it, or give the locks a file of their own',
};

const DAMAGED: ErrorMeaning = {
  retryable: false,
  outcome: 'failed',
  advice:
    'is not an SQLite database, or damaged. If the path is right, stop the programs that use it' +
    ' and move it away together with its -wal and -shm files: it holds nothing but locks',
};

const MEANINGS: Readonly<Record<number, SqliteMeaning>> = {
  5: { name: 'SQLITE_BUSY', says: 'database is locked', ...BUSY },
  6: { name: 'SQLITE_LOCKED', says: 'database table is locked', ...BUSY },
  8: {
    name: 'SQLITE_READONLY',
    says: 'attempt to write a readonly database',
    retryable: false,
    outcome: 'failed',
    advice:
      'cannot be written. Locks need write permission on the file and on its directory, where' +
      ' SQLite keeps the -wal and -shm files',
  },
  10: {
    name: 'SQLITE_IOERR',
    says: 'disk I/O error',
    retryable: true,
    outcome: 'unknown',
    advice: 'could not be read or written by the operating system. Look at the disk and its log',
  },
  11: { name: 'SQLITE_CORRUPT', says: 'database disk image is malformed', ...DAMAGED },
  13: {
    name: 'SQLITE_FULL',
    says: 'database or disk is full',
    retryable: true,
    outcome: 'failed',
    advice: 'cannot grow: the disk, the quota or max_page_count is used up. Free some space',
  },
  14: {
    name: 'SQLITE_CANTOPEN',
    says: 'unable to open database file',
    retryable: false,
    outcome: 'failed',
    advice: 'cannot be opened. It must be a file, or none yet, in a writable directory',
  },
  15: { name: 'SQLITE_PROTOCOL', says: 'locking protocol', ...BUSY },
  26: { name: 'SQLITE_NOTADB', says: 'file is not a database', ...DAMAGED },
};

const IN_TRANSACTION = 'cannot start a transaction within a transaction';

/** The same step may work in a moment: the file, or the connection, is in use. */
export function isBusy(error: unknown): boolean {
  return meaningOf(error)?.advice === BUSY.advice || messageOf(error).includes(IN_TRANSACTION);
}

/** A failure of SQLite as a `StoreError` that says what to do. */
export function sqliteError(error: unknown, file: string): StoreError {
  const said = messageOf(error);
  if (said.includes(IN_TRANSACTION)) {
    const what = `The database object for ${file} is still in a transaction of the program.`;
    return temporaryFailure(`${what} Give the locks a connection of their own.`, error);
  }
  const { advice, retryable, outcome, name } = meaningOf(error) ?? UNKNOWN;
  const message = `The lock database ${file} ${advice} (${name}: ${said}).`;
  return new StoreError(message, { cause: error, retryable, outcome });
}

const UNKNOWN: Omit<SqliteMeaning, 'says'> = {
  name: 'SQLite',
  retryable: false,
  outcome: 'failed',
  advice: 'failed',
};

/** Each binding has its own place for the result code. */
function meaningOf(error: unknown): SqliteMeaning | undefined {
  const { errcode, rawCode, code } = (error ?? {}) as Record<string, unknown>;
  // libsql gives the reason why it could not open a file only in the text.
  const opening = /local database .*: (\d+)"?\)?$/s.exec(messageOf(error))?.[1];
  const number = errcode ?? rawCode ?? opening;
  if (number !== undefined) return MEANINGS[Number(number) & 0xff];
  return Object.values(MEANINGS).find(({ name, says }) => {
    if (code === name || String(code).startsWith(`${name}_`)) return true;
    return code === 'ERR_SQLITE_ERROR' && messageOf(error).startsWith(says);
  });
}
