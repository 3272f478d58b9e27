/** Two copies of SQLite in one process, on one file: a program's own, and that of the store. */
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SqliteDatabase } from '../../../src/clients/sqlite/connection.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { claimOf, directory, hold, newFile, open } from './bed.ts';

/** A connection of another copy of SQLite than that of the store, as better-sqlite3 has one. */
function openElsewhere(file: string): SqliteDatabase {
  const modules = join(directory(), 'node_modules');
  const installed = dirname(dirname(createRequire(import.meta.url).resolve('libsql')));
  for (const name of ['libsql', '@libsql', '@neon-rs', 'detect-libc']) {
    cpSync(join(installed, name), join(modules, name), { recursive: true });
  }
  const Database = createRequire(join(modules, 'x.js'))('libsql');
  const database = new Database(file) as SqliteDatabase;
  onTestFinished(() => void database.close());
  return database;
}

test.runIf(process.platform === 'linux')(
  'are refused, and one connection for both works',
  async () => {
    const [file, other] = [newFile(), newFile()];
    await hold(open(other), claimOf('job'));
    const program = openElsewhere(file);
    program.exec('PRAGMA journal_mode=WAL; CREATE TABLE sale (note TEXT)');
    const refused = sqliteStore(file).claim([claimOf('job')]);
    await expect(refused).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/another copy of SQLite .*\.node.*Pass \{ database \}/),
    });
    await hold(sqliteStore({ database: program }), claimOf('job'));
    // Files that only the store has open are taken, by as many stores as there are.
    await hold(open(other), claimOf('another job'));
    await hold(open(newFile()), claimOf('job'));
  },
);
