/** Databases in memory for the fence: one in a transaction that never ends, one in none. */
import type { SqliteConnection } from 'holdfast/fence';

type Open = new (file: string) => SqliteConnection;

async function binding(): Promise<Open> {
  if (process.getBuiltinModule('node:sqlite')) return (await import('node:sqlite')).DatabaseSync;
  return (await import('libsql')).default as unknown as Open;
}

const Database: Open = await binding();

export const database: SqliteConnection = new Database(':memory:');
database.exec('BEGIN');

export const idle: SqliteConnection = new Database(':memory:');
