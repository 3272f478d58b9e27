/** Everything that SQLite may say instead of doing it, provoked for real where that is possible. */
import { execFile } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { isBusy, sqliteError } from '../../../src/clients/sqlite/errors.ts';
import type { Store } from '../../../src/contract/store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { claimOf, connect, directory, hold, newFile, one, open, test } from './bed.ts';

/** What the store says instead of claiming. */
const failure = (store: Store): Promise<unknown> =>
  store.claim([claimOf('job')]).catch((error: unknown) => error);
const says = (text: RegExp, retryable = false): object => ({
  ...{ code: 'STORE', retryable, outcome: 'failed', message: expect.stringMatching(text) },
});

test('a lock that another keeps: an error after the time-out, and the loop goes on', async () => {
  const file = newFile();
  const store = open(file, { busyMs: 100 });
  const claim = claimOf('held');
  await hold(store, claim);
  const other = await connect(file);
  other.exec('BEGIN IMMEDIATE');
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const error = await failure(store);
  clearInterval(timer);
  expect(error).toMatchObject(says(/keeps a transaction open on it.*SQLITE_BUSY/, true));
  // Fewer than one a millisecond on a busy machine, but a blocked loop would have let none pass.
  expect(turns).toBeGreaterThan(0);
  other.exec('ROLLBACK');
  expect(await one(store.renew([claim]))).toMatchObject({ state: 'held' });
});

test('whatever was refused the lock leaves nothing behind that would be in the way', async () => {
  const file = newFile();
  const store = open(file);
  const [a, b] = [claimOf('a'), claimOf('b')];
  await store.claim([a, b]);
  const other = await connect(file);
  for (let round = 0; round < 20; round++) {
    const c = claimOf('c');
    other.exec('BEGIN IMMEDIATE');
    const verbs = Promise.all([
      store.renew([a]),
      store.release([b]),
      store.inspect('a'),
      store.claim([c]),
      store.claim([claimOf('a', { queue: false })]),
    ]);
    // Long enough for each of them to have been refused.
    await new Promise((resolve) => setTimeout(resolve, 5));
    other.exec('COMMIT');
    const [renewed, released, queue, claimed, tried] = await verbs;
    expect(renewed).toMatchObject([{ state: 'held' }]);
    expect(released).toEqual([true]);
    expect(queue.holders).toHaveLength(1);
    expect(claimed).toMatchObject([{ state: 'held' }]);
    expect(tried).toMatchObject([{ why: 'refused' }]);
    await store.release([c]);
    await hold(store, b);
  }
});

test('a lone step that gave up leaves nothing that keeps the next from a commit', async () => {
  const file = newFile();
  const store = open(file, { busyMs: 20 });
  const lone = claimOf('lone');
  await hold(store, lone);
  // So often that the lock is taken by one statement.
  for (let i = 0; i < 3; i++) {
    const claim = claimOf('job');
    await hold(store, claim);
    await store.release([claim]);
  }
  const other = await connect(file);
  const rows = other.prepare('SELECT 1 FROM holdfast_claim WHERE resource = ?');
  const steps = [() => store.release([lone]), () => store.claim([claimOf('job')])];
  for (const [n, step] of steps.entries()) {
    other.exec('BEGIN IMMEDIATE');
    await expect(step()).rejects.toMatchObject(says(/SQLITE_BUSY/, true));
    other.exec('ROLLBACK');
    expect(await store.recall('lone')).toBeUndefined();
    await hold(store, claimOf(`next ${n}`));
    other.exec('BEGIN IMMEDIATE');
    expect(rows.all(`next ${n}`)).toHaveLength(1);
    other.exec('ROLLBACK');
  }
  // What gave up has happened at no later time either.
  expect(await store.release([lone])).toEqual([true]);
  await hold(store, claimOf('job'));
});

test('a connection that is in a transaction of the program', async () => {
  const database = await connect(newFile());
  const store = sqliteStore({ database, busyTimeout: 50 });
  const claim = claimOf('job');
  await hold(store, claim);
  database.exec('BEGIN');
  expect(await failure(store)).toMatchObject(says(/connection of their own/, true));
  await expect(store.release([claim])).rejects.toMatchObject({ code: 'STORE' });
  database.exec('ROLLBACK');
  expect(await store.release([claim])).toEqual([true]);
});

test('a file that is no database', async ({ file }) => {
  writeFileSync(file, 'These are notes, and somebody wants to keep them.\n'.repeat(200));
  expect(await failure(open(file))).toMatchObject(says(/SQLITE_NOTADB/));
  expect(readFileSync(file, 'utf8')).toMatch(/^These are notes/);
});

test('a damaged database', async ({ file }) => {
  const database = await connect(file);
  const store = sqliteStore({ database });
  await store.claim(Array.from({ length: 100 }, (_, i) => claimOf(`job ${i}`)));
  database.close();
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(8192, 0xa5), 0, 8192, 4096);
  expect(await failure(open(file))).toMatchObject(says(/or damaged.*SQLITE_(CORRUPT|NOTADB)/));
});

test('a database that may not be written', async ({ file }) => {
  const database = await connect(file);
  const store = sqliteStore({ database });
  const claim = claimOf('job');
  await hold(store, claim);
  database.exec('PRAGMA query_only = 1');
  const error = await failure(store);
  expect(error).toMatchObject(says(/SQLITE_READONLY/));
  expect(error).toMatchObject(says(/write permission/));
  database.exec('PRAGMA query_only = 0');
  expect(await one(store.renew([claim]))).toMatchObject({ state: 'held' });
});

test('a file that cannot be opened', async () => {
  const path = directory();
  mkdirSync(join(path, 'folder'));
  for (const file of [join(path, 'folder'), join(path, 'missing', 'locks.db')]) {
    expect(await failure(open(file))).toMatchObject(says(/must be a file.*SQLITE_CANTOPEN/));
  }
});

test('a store that could not be opened opens when the reason has gone', async () => {
  const path = join(directory(), 'later');
  const store = open(join(path, 'locks.db'));
  expect(await failure(store)).toMatchObject({ code: 'STORE' });
  mkdirSync(path);
  await hold(store, claimOf('job'));
});

test('a full disk: nothing is lost, and it goes on when there is space', async () => {
  const database = await connect(newFile());
  const store = sqliteStore({ database });
  const held = claimOf('held');
  await hold(store, held);
  database.exec('PRAGMA max_page_count = 12');
  const big = () => claimOf('x'.repeat(512), { id: `${Math.random()}`, queue: true });
  let error: unknown;
  while (!error) {
    await store.claim([big()]).catch((caught) => {
      error = caught;
    });
  }
  expect(error).toMatchObject(says(/SQLITE_FULL/, true));
  expect(await one(store.renew([held]))).toMatchObject({ state: 'held' });
  database.exec('PRAGMA max_page_count = 100000');
  expect(await one(store.claim([big()]))).toMatchObject({ state: 'waiting' });
});

test.skipIf(process.platform === 'win32')(
  'an input or output error: nobody knows what happened',
  async () => {
    // A process that may write no file larger than 100 blocks; the claims go on until it hits that.
    const child = join(import.meta.dirname, 'children', 'file-limit.ts');
    const command = 'ulimit -f 100; exec "$0" --import tsx "$1" "$2"';
    const args = ['-c', command, process.execPath, child, newFile()];
    const { stdout } = await promisify(execFile)('sh', args);
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'STORE',
      retryable: true,
      outcome: 'unknown',
      message: expect.stringMatching(/SQLITE_IOERR/),
    });
  },
);

/** Each binding has its own way to say the same. */
const SHAPES: readonly (readonly [string, (code: number, name: string) => object])[] = [
  ['node:sqlite', (code) => ({ code: 'ERR_SQLITE_ERROR', errcode: code | (2 << 8) })],
  ['libsql', (code, name) => ({ code: name, rawCode: code })],
  ['better-sqlite3', (_, name) => ({ code: `${name}_EXTENDED` })],
];

test.each([
  [5, 'SQLITE_BUSY', true, 'failed'],
  [6, 'SQLITE_LOCKED', true, 'failed'],
  [8, 'SQLITE_READONLY', false, 'failed'],
  [10, 'SQLITE_IOERR', true, 'unknown'],
  [11, 'SQLITE_CORRUPT', false, 'failed'],
  [13, 'SQLITE_FULL', true, 'failed'],
  [14, 'SQLITE_CANTOPEN', false, 'failed'],
  [15, 'SQLITE_PROTOCOL', true, 'failed'],
  [26, 'SQLITE_NOTADB', false, 'failed'],
])('result code %i of any binding is %s', (code, name, retryable, outcome) => {
  for (const [, shape] of SHAPES) {
    const cause = Object.assign(new Error('it says'), shape(code, name));
    const error = sqliteError(cause, '/locks.db');
    expect(error).toMatchObject({ code: 'STORE', retryable, outcome, cause });
    expect(error.message).toMatch(`${name}: it says`);
    expect(isBusy(cause)).toBe([5, 6, 15].includes(code));
  }
});

test('a binding may tell in words alone', () => {
  const said = (text: string): Error =>
    Object.assign(new Error(text), { code: 'ERR_SQLITE_ERROR' });
  expect(isBusy(said('database is locked'))).toBe(true);
  expect(isBusy(said('no such table: a'))).toBe(false);
  const error = sqliteError(said('unable to open database file: /nowhere/a'), '/nowhere/a');
  expect(error.message).toMatch('SQLITE_CANTOPEN');
});

test('what is in no table is an error all the same', () => {
  for (const cause of [new Error('odd'), 'odd', Object.assign(new Error('odd'), { errcode: 1 })]) {
    expect(sqliteError(cause, '/locks.db')).toMatchObject({ retryable: false, outcome: 'failed' });
    expect(isBusy(cause)).toBe(false);
  }
});
