import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** What `node:sqlite` and `libsql` have in common. */
export interface BareDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): BareStatement;
  close(): unknown;
}

export interface BareStatement {
  run(...values: unknown[]): { readonly changes: number | bigint };
  get(...values: unknown[]): unknown;
}

const require = createRequire(import.meta.url);

/** The binding that the store takes when it is given none, so that both speak through the same. */
const builtin = process.getBuiltinModule?.('node:sqlite');

/** A database as fast as SQLite lets it be: WAL, and no fsync at a commit. */
export function openBare(file: string): BareDatabase {
  const database: BareDatabase = builtin
    ? new builtin.DatabaseSync(file)
    : new (require('libsql') as new (file: string) => BareDatabase)(file);
  database.prepare('PRAGMA busy_timeout = 5000').get();
  database.prepare('PRAGMA journal_mode = WAL').get();
  database.exec('PRAGMA synchronous = NORMAL');
  return database;
}

/** One INSERT and one DELETE, each a transaction of its own: the least that a lock can cost. */
export function barePair(database: BareDatabase, table: string, name: string): () => void {
  const insert = database.prepare(`INSERT INTO ${table} (name, id, expires) VALUES (?, ?, ?)`);
  const remove = database.prepare(`DELETE FROM ${table} WHERE name = ? AND id = ?`);
  return () => {
    insert.run(name, '0123456789abcdef0123456789abcdef', Date.now());
    remove.run(name, '0123456789abcdef0123456789abcdef');
  };
}

export const BARE_TABLES = `
  CREATE TABLE IF NOT EXISTS bare (
    name TEXT PRIMARY KEY, id TEXT NOT NULL, expires INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS bare_rowid (
    name TEXT PRIMARY KEY, id TEXT NOT NULL, expires INTEGER NOT NULL
  );
`;

export function bindingName(): string {
  const database = openBare(':memory:');
  const row = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  database.close();
  if (builtin) return `node:sqlite (SQLite ${row.version})`;
  const file = join(dirname(require.resolve('libsql')), 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return `libsql ${version} (SQLite ${row.version})`;
}
