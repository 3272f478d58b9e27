/** Locks between the processes of one machine, in an SQLite file. */
import fs from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { type Duration, duration } from '../../base/duration.ts';
import { isLockError, UsageError } from '../../base/errors.ts';
import { asGiven, checkOptions, flag } from '../../base/options.ts';
import { fileOf, inMemory, type SqliteDatabase } from '../../clients/sqlite/connection.ts';
import { thisMachine } from '../../clients/sqlite/machine.ts';
import { maxWaiters } from '../../contract/admission.ts';
import type { Store } from '../../contract/store.ts';
import { LAYOUTS } from './schema.ts';
import { SqliteStore } from './sqlite-store.ts';

export type {
  SqliteDatabase,
  SqliteStatement,
  SqliteValue,
} from '../../clients/sqlite/connection.ts';

export interface SqliteOptions {
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
  /** How long a step may find the file locked by others before it fails; default 5 s. */
  readonly busyTimeout?: Duration;
  /** Take the file although it is on a file system whose locks are known not to exclude. */
  readonly trustFileSystem?: boolean;
}

export interface SqliteDatabaseOptions extends SqliteOptions {
  /** A `DatabaseSync` of node:sqlite, or a `Database` of better-sqlite3 or libsql. */
  readonly database: SqliteDatabase;
}

const WHAT = 'sqliteStore';
const CHECKS = { maxWaiters, busyTimeout: duration(5_000), trustFileSystem: flag() };
const DATABASE = { ...CHECKS, database: asGiven<SqliteDatabase> };

/** A hand-off looks at few waiters, and reading one takes 1 µs. */
const FRONT = 16;

/**
 * A store in an SQLite file, which is created if it is missing. The first verb opens it: with
 * node:sqlite where Node has it (22.13 and newer), else with the package libsql.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { sqliteStore } from 'holdfast/sqlite';
 *
 * const locks = createLocks(sqliteStore('./locks.db'));
 *
 * @throws UsageError if there is no file that other processes could share, or for bad options.
 */
export function sqliteStore(file: string, options?: SqliteOptions): Store;
/**
 * A store in the database of an object that the program has opened, and closes itself. Give the
 * locks a connection of their own: they cannot work while it is in a transaction of the program.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite';
 * import { createLocks } from 'holdfast';
 * import { sqliteStore } from 'holdfast/sqlite';
 *
 * const locks = createLocks(sqliteStore({ database: new DatabaseSync('./locks.db') }));
 */
export function sqliteStore(options: SqliteDatabaseOptions): Store;
export function sqliteStore(
  source: string | SqliteDatabaseOptions,
  given: SqliteOptions = {},
): Store {
  const all = typeof source === 'object' ? checkOptions(source, DATABASE, WHAT) : undefined;
  const { busyTimeout: busyMs, ...options } = all ?? checkOptions(given, CHECKS, WHAT);
  const database = all?.database;
  return new SqliteStore({
    ...options,
    file: database ? checkDatabase(database) : checkFile(source),
    database,
    front: FRONT,
    busyMs,
    machine: thisMachine,
    layouts: LAYOUTS,
    watchFile: fs.watch,
    clock: systemClock(),
  });
}

function checkFile(file: unknown): string {
  if (typeof file !== 'string') {
    throw new UsageError('sqliteStore takes the path of a file, or { database }.');
  }
  if (file === '' || file.includes(':memory:')) throw inMemory();
  if (file.startsWith('file:') || file.includes('\0')) {
    throw new UsageError(`sqliteStore takes a plain path, not ${JSON.stringify(file)}.`);
  }
  return resolve(file);
}

function checkDatabase(database: SqliteDatabase): string {
  try {
    return fileOf(database);
  } catch (cause) {
    if (isLockError(cause)) throw cause;
    const message = '`database` must be an open database of node:sqlite, better-sqlite3 or libsql.';
    throw new UsageError(message, { cause });
  }
}
