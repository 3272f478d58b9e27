/**
 * Floors: the fewest statements that do the work, through the binding that the store takes.
 *
 * Contended, it is one transaction that joins a queue and one that leaves it, after which a line in
 * a file lets the next in. Nothing here expires a waiter, repairs a lost line, issues a token or
 * notices that a lease is over.
 */
import fs, { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Connect } from '../measuring/subject.ts';

/** What `node:sqlite` and `libsql` have in common. */
interface BareDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: unknown[]): unknown;
    get(...values: unknown[]): unknown;
  };
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

/** Each process watches a file of its own. */
const queueAndFileWatch: Connect = (url) => {
  const database = openBare(url);
  const joining = database.prepare(`INSERT INTO bare_queue
    SELECT ?, ifnull(max(number), 0) + 1, ?, ? FROM bare_queue WHERE name = ?`);
  const counting = database.prepare('SELECT count(*) AS n FROM bare_queue WHERE name = ?');
  const leaving = database.prepare('DELETE FROM bare_queue WHERE name = ? AND id = ?');
  const first = database.prepare(
    'SELECT id, file FROM bare_queue WHERE name = ? ORDER BY number LIMIT 1',
  );
  const file = `${fileOf(url)}-${process.pid}-${process.hrtime.bigint()}`;
  const fd = fs.openSync(file, 'a+');
  const waiting = new Map<string, () => void>();
  const bytes = Buffer.alloc(64 * 1024);
  let offset = 0;
  const watcher = fs.watch(file, () => {
    const size = fs.readSync(fd, bytes, 0, bytes.length, offset);
    offset += size;
    for (const id of bytes.toString('utf8', 0, size).split('\n')) waiting.get(id)?.();
  });
  let count = 0;

  const inTransaction = <T>(work: () => T): T => {
    database.exec('BEGIN IMMEDIATE');
    const result = work();
    database.exec('COMMIT');
    return result;
  };
  return {
    task: (name) => async () => {
      const id = `${file} ${count++}`;
      const told = new Promise<void>((resolve) => waiting.set(id, resolve));
      const { n } = inTransaction(() => {
        joining.run(name, id, file, name);
        return counting.get(name) as { readonly n: number };
      });
      if (n > 1) await told;
      waiting.delete(id);
      return () => {
        const next = inTransaction(() => {
          leaving.run(name, id);
          return first.get(name) as { readonly id: string; readonly file: string } | undefined;
        });
        if (next) fs.appendFileSync(next.file, `${next.id}\n`);
      };
    },
    close: () => {
      watcher.close();
      fs.closeSync(fd);
      fs.rmSync(file);
      database.close();
    },
  };
};

export const ROW_FLOOR = 'floor: INSERT + DELETE, WITHOUT ROWID';

export const QUEUE_FLOOR = 'floor: queue and file watch';

export const floors: Readonly<Record<string, Connect>> = {
  [ROW_FLOOR]: insertAndDelete,
  [QUEUE_FLOOR]: queueAndFileWatch,
};

/** Before others come: processes that turn the same new file to WAL at once would fail. */
export function createTables(url: string): void {
  const database = openBare(url);
  database.exec(`CREATE TABLE IF NOT EXISTS bare (
    name TEXT PRIMARY KEY, id TEXT NOT NULL, expires INTEGER NOT NULL
  ) WITHOUT ROWID`);
  database.exec(`CREATE TABLE IF NOT EXISTS bare_queue (
    name TEXT, number INTEGER, id TEXT NOT NULL, file TEXT NOT NULL, PRIMARY KEY (name, number)
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
