/** What the tests of the SQLite store share: files, claims, stores with parts of their own. */
import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test as base, expect, onTestFinished, type TestAPI } from 'vitest';
import type { SqliteDatabase } from '../../../src/clients/sqlite/connection.ts';
import type { Claim, ClaimStatus, Store } from '../../../src/contract/store.ts';
import type { SqliteParts, SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { directory } from '../../support/directory.ts';
import { until } from '../../support/until.ts';
import { claimOf } from './children/claim-of.ts';
import { storeWith } from './children/store-with.ts';

export { claimOf, directory };

export function newFile(): string {
  return join(directory(), 'locks.db');
}

/** A test that gets a file of its own. */
export const test: TestAPI<{ readonly file: string }> = base.extend<{ readonly file: string }>({
  file: ({ task: _ }, give) => give(newFile()),
});

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

/** Hints for a claim, as they come. */
export async function hintsOf(
  store: SqliteStore,
  claim: Claim,
): Promise<(ClaimStatus | undefined)[]> {
  const hints: (ClaimStatus | undefined)[] = [];
  await store.watch(claim, (hint) => hints.push(hint));
  return hints;
}

interface Waits {
  readonly file: string;
  readonly a: SqliteStore;
  readonly b: SqliteStore;
  readonly holder: Claim;
  readonly waiter: Claim;
  readonly hints: readonly (ClaimStatus | undefined)[];
}

/** In one store a claim holds; in another, with these parts, one waits and listens. */
export async function scene(parts: Partial<SqliteParts> = {}): Promise<Waits> {
  const file = newFile();
  const [a, b] = [open(file), open(file, parts)];
  const [holder, waiter] = [claimOf('job'), claimOf('job')];
  await hold(a, holder);
  const hints = await hintsOf(b, waiter);
  await b.claim([waiter]);
  return { file, a, b, holder, waiter, hints };
}

type HandingOver = Pick<Waits, 'a' | 'holder' | 'hints'>;

/** The one that holds leaves, and the other hears that it holds. */
export async function handOver({ a, holder, hints }: HandingOver): Promise<void> {
  await a.release([holder]);
  await until(() => hints.length > 0);
  expect(hints).toMatchObject([{ state: 'held' }]);
}
