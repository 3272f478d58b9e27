/** Databases that the program opened itself, and how many statements the store makes of a verb. */
import type { DatabaseSync } from 'node:sqlite';
import type Libsql from 'libsql';
import { expect, expectTypeOf } from 'vitest';
import type { SqliteDatabase } from '../../../src/clients/sqlite/connection.ts';
import { type SqliteOptions, sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { claimOf, connect, hold, newFile, one, open, test } from './bed.ts';
import { FakeMachine } from './fake-machine.ts';

test('the objects of the bindings fit', () => {
  expectTypeOf<DatabaseSync>().toExtend<SqliteDatabase>();
  expectTypeOf<Libsql.Database>().toExtend<SqliteDatabase>();
});

test('an object of the program is used, and left open', async ({ file }) => {
  const database = await connect(file);
  const store = sqliteStore({ database });
  const claim = claimOf('job');
  await hold(store, claim);
  expect(await one(open(file).claim([claimOf('job')]))).toMatchObject({ state: 'waiting' });
  await store.close?.();
  expect(database.prepare('SELECT count(*) AS n FROM holdfast_claim').all()).toMatchObject([
    { n: 2 },
  ]);
});

test('an object that answers with big integers or arrays', async () => {
  const database = await connect(newFile());
  const { defaultSafeIntegers } = database as { defaultSafeIntegers?: (on: boolean) => void };
  defaultSafeIntegers?.call(database, true);
  const store = sqliteStore({ database });
  const claims = [claimOf('a'), claimOf('b')];
  await store.claim(claims);
  expect(await store.renew(claims)).toMatchObject([
    { state: 'held', waiters: 0 },
    { state: 'held', waiters: 0 },
  ]);
  expect(await one(store.claim([claimOf('a')]))).toMatchObject({ state: 'waiting', ahead: 1 });
});

test.each([
  ['', /memoryStore/],
  [':memory:', /memoryStore/],
  ['file::memory:?cache=shared', /memoryStore/],
  ['file:./locks.db', /plain path/],
  ['a\0b', /plain path/],
  [undefined, /path of a file/],
  [{}, /path of a file/],
  [{ database: {} }, /must be an open database/],
])('%j is a usage error', (source, message) => {
  const call = () => sqliteStore(source as string);
  expect(call).toThrow(message);
  expect(call).toThrow(expect.objectContaining({ code: 'USAGE' }));
});

test.each([
  { maxWaiters: -1 },
  { maxWaiters: 1.5 },
  { maxWaiters: Number.NaN },
  { busyTimeout: 'soon' },
  { busyTimeout: -1 },
])('the options %j are a usage error', (options) => {
  const call = () => sqliteStore('locks.db', options as SqliteOptions);
  expect(call).toThrow(expect.objectContaining({ code: 'USAGE' }));
});

test('a database in memory cannot be shared', async () => {
  const database = await connect(':memory:');
  expect(() => sqliteStore({ database })).toThrow(/memoryStore/);
});

test('a database that the program has closed is a usage error', async () => {
  const database = await connect(newFile());
  database.close();
  expect(() => sqliteStore({ database })).toThrow(/must be an open database/);
});

test('a closed store says so, twice if need be', async () => {
  const store = open(newFile());
  await hold(store, claimOf('job'));
  await store.close();
  await store.close();
  await expect(store.claim([claimOf('job')])).rejects.toMatchObject({ code: 'CLOSED' });
  await expect(store.inspect('job')).rejects.toMatchObject({ code: 'CLOSED' });
});

/** The same database, counting what it is asked to run. */
function counting(database: SqliteDatabase): { database: SqliteDatabase; take: () => number } {
  let count = 0;
  const counted: SqliteDatabase = {
    exec(sql) {
      count++;
      return database.exec(sql);
    },
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        run(...values) {
          count++;
          return statement.run(...values);
        },
        all(...values) {
          count++;
          return statement.all(...values);
        },
      };
    },
    close: () => database.close(),
  };
  return {
    database: counted,
    take() {
      const taken = count;
      count = 0;
      return taken;
    },
  };
}

test('who is alone costs one statement in a transaction, a hundred as well', async () => {
  const { database, take } = counting(await connect(newFile()));
  const store = sqliteStore({ database });
  const claims = Array.from({ length: 100 }, (_, i) => claimOf(`lease ${i}`));
  await hold(store, claimOf('warm'));
  take();
  await store.claim(claims);
  expect(take()).toBe(3);
  const statuses = await store.renew(claims);
  expect(statuses.every((status) => status.state === 'held')).toBe(true);
  expect(take()).toBe(3);
  expect((await store.release(claims)).every(Boolean)).toBe(true);
  expect(take()).toBe(3);
  const alone = claims.slice(0, 1);
  for (const verb of ['claim', 'renew', 'release'] as const) {
    await store[verb](alone);
    expect(take()).toBe(3);
  }
});

test('a hand-off costs as much with a thousand waiters as with twenty', async () => {
  const costs: number[] = [];
  for (const waiters of [20, 1_000]) {
    const { database, take } = counting(await connect(newFile()));
    const store = sqliteStore({ database });
    const holder = claimOf('job');
    await hold(store, holder);
    for (let i = 0; i < waiters; i += 100) {
      const batch = Array.from({ length: Math.min(100, waiters) }, () => claimOf('job'));
      await store.claim(batch);
    }
    take();
    await store.release([holder]);
    costs.push(take());
  }
  expect(costs[1]).toBe(costs[0]);
});

test('a release that comes late ends no other claim', async ({ file }) => {
  const machine = new FakeMachine('first');
  const [a, b] = [open(file, { machine }), open(file, { machine })];
  const [late, next] = [claimOf('job', { ttlMs: 1_000 }), claimOf('job')];
  await hold(a, late);
  machine.pass(2_000_000);
  await hold(b, next);
  expect(await a.release([late])).toEqual([false]);
  expect(await one(b.renew([next]))).toMatchObject({ state: 'held' });
});

test('a commit of unknown outcome is not hidden by what fails after it', async () => {
  const database = await connect(newFile());
  let broken = false;
  const fail = (errcode: number): never => {
    throw Object.assign(new Error('broken'), { errcode });
  };
  const store = sqliteStore({
    database: {
      exec: (sql) => (broken && sql === 'COMMIT' ? fail(10) : database.exec(sql)),
      prepare: (sql) => (broken ? fail(11) : database.prepare(sql)),
      close: () => {},
    },
  });
  await hold(store, claimOf('warm'));
  broken = true;
  await expect(store.claim([claimOf('job')])).rejects.toMatchObject({ outcome: 'unknown' });
});
