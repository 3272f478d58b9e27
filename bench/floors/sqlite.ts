/** Floor: the fewest statements that do the work, through the binding that the store takes. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Connect } from '../measuring/subject.ts';

/** What `node:sqlite` and `libsql` have in common. */
interface BareDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: unknown[]): unknown; get(): unknown };
  close(): unknown;
}

const require = createRequire(import.meta.url);

const builtin = process.getBuiltinModule?.('node:sqlite');

/** A database as fast as SQLite lets it be: WAL, and no fsync at a commit. */
export function openBare(url: string): BareDatabase {
  const file = fileOf(url);
  const database: BareDatabase = builtin
    ? new builtin.DatabaseSync(file)
    : new (require('libsql') as new (file: string) => BareDatabase)(file);
  database.prepare('PRAGMA busy_timeout = 5000').get();
  database.prepare('PRAGMA journal_mode = WAL').get();
  database.exec('PRAGMA synchronous = NORMAL');
  return database;
}

/** One INSERT and one DELETE, each a transaction of its own: the least that a lock can cost. */
const insertAndDelete: Connect = (url) => {
  const database = openBare(url);
  const insert = database.prepare('INSERT INTO bare (name, id, expires) VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM bare WHERE name = ? AND id = ?');
  const id = '0123456789abcdef0123456789abcdef';
  return {
    task: (name) => () => {
      insert.run(name, id, Date.now());
      return () => remove.run(name, id);
    },
    close: () => database.close(),
  };
};

export const ROW_FLOOR = 'floor: INSERT + DELETE, WITHOUT ROWID';

export const floors: Readonly<Record<string, Connect>> = { [ROW_FLOOR]: insertAndDelete };

/** Before others come: processes that turn the same new file to WAL at once would fail. */
export function createTables(url: string): void {
  const database = openBare(url);
  database.exec(`CREATE TABLE IF NOT EXISTS bare (
    name TEXT PRIMARY KEY, id TEXT NOT NULL, expires INTEGER NOT NULL
  ) WITHOUT ROWID`);
  database.close();
}

/** Beside that of the store. */
function fileOf(url: string): string {
  return url === ':memory:' ? url : `${url.replace(/^sqlite:/, '')}.bare`;
}

export function bindingName(): string {
  const database = openBare(':memory:');
  const row = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  database.close();
  if (builtin) return `node:sqlite (SQLite ${row.version})`;
  const file = join(dirname(require.resolve('libsql')), 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return `libsql ${version} (SQLite ${row.version})`;
}
