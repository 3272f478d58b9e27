/**
 * One connection: the binding, its settings, and transactions that never block the event loop.
 *
 * SQLite's own busy handler sleeps inside the call: it would stop this process's heartbeats, and it
 * starves others. So the time-out is zero, and a busy step is repeated in a later turn of the loop,
 * from its beginning, with the clock read anew: first at once, then every millisecond or two.
 * A statement outside of `write` is a transaction by itself. libsql leaves one that was refused
 * where it stopped. Until that has run to its end, SQLite commits nothing else that the connection
 * writes. So the next transaction runs it first, with a NULL for each value: then it finds no row.
 * `synchronous=NORMAL` does not wait for the disk at a commit. Killing a process loses nothing,
 * because its writes are with the kernel; a power cut may lose the last ones, but it is a reboot as
 * well, which voids all claims, and tokens go on above any that can have been lost.
 */
import { realpathSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Answer } from '../../base/answer.ts';
import { timers } from '../../base/clock.ts';
import { isLockError, UsageError } from '../../base/errors.ts';
import { permanentFailure } from '../../contract/errors.ts';
import { isBusy, sqliteError } from './errors.ts';
import { noteOpened, refuseSecondCopy } from './two-copies.ts';

export type SqliteValue = string | number | null;

export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  all(...values: SqliteValue[]): unknown[];
}

/** What the database objects of node:sqlite, better-sqlite3 and libsql have in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

/**
 * A commit writes whole pages, and checks the sum of each. Claims take some 200 bytes, so small
 * pages save a sixth of a lone claim's time. Only a new file takes the size.
 */
const PAGE_BYTES = 1024;

/** A log of this many pages is as long as SQLite's default, and as rarely waits for the disk. */
const LOG_PAGES = 4_000;

/** How long a busy step is repeated at every turn of the event loop, in ms. */
const SPIN_MS = 0.2;

type Open = (file: string) => SqliteDatabase;

export class FileConnection {
  /** The real path: SQLite and all processes agree on it, whatever links lead there. */
  readonly file: string;
  readonly #database: SqliteDatabase;
  #inTransaction = false;
  /** Runs a statement that was refused outside of a transaction to its end. */
  #refused: (() => unknown) | undefined;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.file = fileOf(database);
  }

  /** Prepares a statement that returns numbers in objects, whatever the database's default. */
  prepare(sql: string): SqliteStatement {
    const statement = this.#database.prepare(sql) as SqliteStatement & Record<string, unknown>;
    for (const setting of ['safeIntegers', 'setReadBigInts', 'setReturnArrays']) {
      const set = statement[setting];
      if (typeof set === 'function') set.call(statement, false);
    }
    return statement;
  }

  prepareAll<Name extends string>(
    texts: Readonly<Record<Name, string>>,
  ): Readonly<Record<Name, SqliteStatement>> {
    const named = Object.entries<string>(texts).map(([name, sql]) => [name, this.prepare(sql)]);
    return Object.fromEntries(named) as Record<Name, SqliteStatement>;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** What is asked once. */
  all(sql: string): unknown[] {
    return this.prepare(sql).all();
  }

  /** What is done once. */
  run(sql: string, ...values: SqliteValue[]): void {
    this.prepare(sql).run(...values);
  }

  /** How many rows the statement has changed, in a transaction by itself unless `write` runs it. */
  change(statement: SqliteStatement, ...values: SqliteValue[]): number {
    if (this.#refused && !this.#inTransaction) {
      return this.write(() => this.change(statement, ...values));
    }
    try {
      return Number(statement.run(...values).changes);
    } catch (error) {
      const stopped = isBusy(error) && !this.#inTransaction;
      if (stopped) this.#refused = () => statement.run(...values.map(() => null));
      throw error;
    }
  }

  /** Runs `work` alone on the file, all or nothing. */
  write<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    return this.#finish(work);
  }

  /** Runs `work` on one state of the file. */
  read<T>(work: () => T): T {
    if (this.#refused) return this.write(work);
    this.#database.exec('BEGIN');
    return this.#finish(() => {
      this.#database.exec('SELECT 1 FROM holdfast_meta');
      return work();
    });
  }

  #finish<T>(work: () => T): T {
    const refused = this.#refused;
    this.#refused = undefined;
    this.#inTransaction = true;
    try {
      refused?.();
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.#database.exec('ROLLBACK');
      } catch {
        // SQLite has rolled back already.
      }
      throw error;
    } finally {
      this.#inTransaction = false;
    }
  }

  close(): void {
    this.#database.close();
  }
}

export async function openConnection(file: string, busyMs: number): Promise<FileConnection> {
  const open = await binding();
  return untilFree(file, busyMs, () => {
    const database = open(file);
    try {
      database.exec(
        `PRAGMA page_size=${PAGE_BYTES}; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
        PRAGMA wal_autocheckpoint=${LOG_PAGES}`,
      );
      return new FileConnection(database);
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** Repeats a step while the file is in use, for `busyMs` at most. @throws StoreError */
export function untilFree<T>(file: string, busyMs: number, step: () => T): Answer<T> {
  const answer = new Answer<T>();
  const since = performance.now();
  const attempt = (): void => {
    let result: T;
    try {
      result = step();
    } catch (error) {
      if (isLockError(error)) return answer.fail(error);
      const busyFor = performance.now() - since;
      if (!isBusy(error) || busyFor >= busyMs) return answer.fail(sqliteError(error, file));
      // Most steps are over in less time than the shortest sleep takes. Later pauses take one or
      // two milliseconds by chance, so that processes do not meet in step again and again.
      if (busyFor < SPIN_MS) timers.setImmediate(attempt);
      else timers.setTimeout(attempt, Math.random() < 0.5 ? 1 : 2);
      return;
    }
    answer.settle(result);
  };
  attempt();
  return answer;
}

/** A plain database of the binding that is available. @throws StoreError */
export async function openSqlite(file: string): Promise<SqliteDatabase> {
  const open = await binding();
  return untilFree(file, 0, () => open(file));
}

async function binding(): Promise<Open> {
  const builtIn = nodeSqlite();
  if (builtIn) return opening((file) => new builtIn.DatabaseSync(file), 0);
  try {
    const { default: Database } = await import('libsql');
    return opening((file) => new Database(file) as SqliteDatabase, 1);
  } catch (cause) {
    throw permanentFailure(
      `Node ${process.versions.node} has no SQLite of its own, and the package libsql cannot be` +
        ' loaded. Run `npm install libsql`, use Node 22.13 or newer, or pass a database object.',
      cause,
    );
  }
}

/** `own`: how many addons this binding is. */
function opening(open: Open, own: number): Open {
  return (file) => {
    refuseSecondCopy(file, own);
    const database = open(file);
    noteOpened(file);
    return database;
  };
}

/** Hides the warning that Node 22 prints when it loads the module: users cannot act on it. */
function nodeSqlite(): typeof import('node:sqlite') | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

export function fileOf(database: SqliteDatabase): string {
  const rows = database.prepare('PRAGMA database_list').all() as { name: string; file: string }[];
  const file = rows.find((row) => row.name === 'main')?.file;
  if (!file) throw inMemory();
  return realpathSync(file);
}

export function inMemory(): UsageError {
  return new UsageError(
    'A database in memory cannot be shared with other processes. Use a file, or memoryStore()' +
      ' for locks inside this process.',
  );
}
