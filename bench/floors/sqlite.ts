/** Floors: the fewest statements that do the work, through the binding that the store takes. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, watch, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Connect, Connected } from '../measuring/subject.ts';

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
function insertAndDelete(table: string): Connect {
  return (url) => {
    const database = openBare(url);
    const insert = database.prepare(`INSERT INTO ${table} (name, id, expires) VALUES (?, ?, ?)`);
    const remove = database.prepare(`DELETE FROM ${table} WHERE name = ? AND id = ?`);
    const id = '0123456789abcdef0123456789abcdef';
    return {
      task: (name) => () => {
        insert.run(name, id, Date.now());
        return () => remove.run(name, id);
      },
      close: () => database.close(),
    };
  };
}

/**
 * Of two processes, a row says whose turn it is. Releasing writes the other's number there and a
 * byte into the file that the other watches; each event costs one statement, which grants if the
 * number is ours.
 */
function watchedFile(url: string): Connected {
  const database = openBare(url);
  const enter = database.prepare(`INSERT INTO turn VALUES (?, 0, 0, 1)
    ON CONFLICT DO UPDATE SET members = members + 1 RETURNING members - 1 AS me`);
  const take = database.prepare('UPDATE turn SET taken = 1 WHERE name = ? AND who = ?');
  const pass = database.prepare('UPDATE turn SET who = ?, taken = 0 WHERE name = ?');
  const closing: (() => void)[] = [];
  return {
    task: (resource) => {
      const { me } = enter.get(resource) as { readonly me: number };
      const [mine, others] = [me, 1 - me].map((n) => `${fileOf(url)}-${hash(resource)}-${n}`);
      const own = openSync(mine ?? '', 'a');
      const other = openSync(others ?? '', 'a');
      let granted: (() => void) | undefined;
      const ask = (): void => {
        if (!granted || take.run(resource, me).changes !== 1) return;
        granted();
        granted = undefined;
      };
      const watcher = watch(mine ?? '', ask);
      closing.push(() => {
        watcher.close();
        for (const fd of [own, other]) closeSync(fd);
      });
      const release = (): void => {
        pass.run(1 - me, resource);
        writeSync(other, '.');
      };
      return () =>
        new Promise((resolve) => {
          granted = () => resolve(release);
          ask();
        });
    },
    close: () => {
      for (const one of closing) one();
      database.close();
    },
  };
}

export const floors: Readonly<Record<string, Connect>> = {
  'floor: INSERT + DELETE, WITHOUT ROWID': insertAndDelete('bare'),
  'floor: INSERT + DELETE, rowid table': insertAndDelete('bare_rowid'),
  'floor: watched file + statement': watchedFile,
};

export function createTables(database: BareDatabase): void {
  database.exec(`
    CREATE TABLE IF NOT EXISTS bare (
      name TEXT PRIMARY KEY, id TEXT NOT NULL, expires INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS bare_rowid (
      name TEXT PRIMARY KEY, id TEXT NOT NULL, expires INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS turn (
      name TEXT PRIMARY KEY, who INTEGER, taken INTEGER, members INTEGER
    )`);
}

/** Beside that of the store. */
function fileOf(url: string): string {
  return url === ':memory:' ? url : `${url.replace(/^sqlite:/, '')}.bare`;
}

/** For names of files. */
function hash(text: string): string {
  return createHash('sha1').update(text).digest('hex');
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
