/** An application's own SQLite database, opened with what there is: node:sqlite, else libsql. */
type Value = string | number;

export interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: Value[]): { readonly changes: number | bigint };
    get(...values: Value[]): unknown;
    all(...values: Value[]): unknown[];
  };
  close(): unknown;
}

export async function openDatabase(file: string): Promise<Database> {
  const database = await open(file);
  database.exec('PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL');
  try {
    database.exec('PRAGMA journal_mode = WAL');
  } catch (error) {
    // Another process is just opening it, and does the same: the file keeps its journal mode.
    if (!/database is locked/.test(String(error))) throw error;
  }
  return database;
}

/** All or nothing, and alone: no other process writes to this file meanwhile. */
export function transaction<T>(database: Database, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

async function open(file: string): Promise<Database> {
  const builtIn = process.getBuiltinModule('node:sqlite');
  if (builtIn) return new builtIn.DatabaseSync(file);
  const { default: Libsql } = await import('libsql');
  return new Libsql(file) as Database;
}
