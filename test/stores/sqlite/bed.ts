/** What the tests of the SQLite store share: files, claims, stores with parts of their own. */
import fs, { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SqliteDatabase } from '../../../src/clients/sqlite/connection.ts';
import type { Claim, ClaimStatus, Store } from '../../../src/contract/store.ts';
import type { SqliteParts, SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { storeWith } from './children/store-with.ts';

export { claimOf } from './children/claim-of.ts';

/** A directory that goes with the test. */
export function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function newFile(): string {
  return join(directory(), 'locks.db');
}

/** A store that closes with the test, with parts that users cannot choose. */
export function open(file: string, parts: Partial<SqliteParts> = {}): SqliteStore {
  const store = storeWith(file, parts);
  onTestFinished(() => store.close());
  return store;
}

export async function one(answer: Promise<readonly ClaimStatus[]>): Promise<ClaimStatus> {
  const [status] = await answer;
  if (!status) throw new Error('no status');
  return status;
}

/** Enters and expects to hold. */
export async function hold(store: Store, claim: Claim): Promise<bigint> {
  const status = await one(store.claim([claim]));
  if (status.state !== 'held') throw new Error(`not held: ${JSON.stringify(status)}`);
  return status.token;
}

/** A connection of the binding that the store itself takes. */
export async function connect(file: string): Promise<SqliteDatabase> {
  const database = process.getBuiltinModule('node:sqlite')
    ? new (await import('node:sqlite')).DatabaseSync(file)
    : (new (await import('libsql')).default(file) as SqliteDatabase);
  onTestFinished(() => {
    try {
      database.close();
    } catch {
      // The test has closed it itself.
    }
  });
  return database;
}

/** The wake files of a database. */
export function filesOf(file: string): string[] {
  const names = fs.readdirSync(dirname(file));
  const wakes = names.filter((name) => name.startsWith(`${basename(file)}-wake-`));
  return wakes.map((name) => join(dirname(file), name));
}
