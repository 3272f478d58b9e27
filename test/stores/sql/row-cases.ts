/** What locks in rows promise in every database, whatever else goes on there. */
import { describe, expect, test } from 'vitest';
import { asked, type Caller, expectCalmStorm, numberOf } from '../../methods/faults/sql-calls.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';

/** A database with the tables of the locks, as these cases see it. */
export interface Database {
  /** With the prefix or the schema. */
  readonly tables: Readonly<Record<'lock' | 'store' | 'kept', string>>;
  /** A program of its own, until all tests are over. */
  caller(): Caller;
  /** As a user who may do everything. */
  query<Row extends object>(sql: string): Promise<Row[]>;
  /** Makes this statement in a transaction, until the returned function rolls it back. */
  hold(statement: string): Promise<() => Promise<void>>;
  /** One round, as programs make it now and then. */
  sweep(idleMs?: number): Promise<void>;
}

/** Whoever was held for no longer than until now is dead by then. */
const LATER_MS = paced(1100);

/** More than one portion of a sweep. */
const MANY = 1200;

export function rowCases(database: Database): void {
  const { lock } = database.tables;
  const lockRow = (name: string): Promise<() => Promise<void>> =>
    database.hold(`select name from ${lock} where name = '${name}' for update`);

  test('a batch locks no row while it waits for another', async () => {
    const [one, two] = [database.caller(), database.caller()];
    const batch = ['x', 'y', 'z', 'new'].map((name) => asked(`locks ${name}`));
    await one.claim(batch);
    await one.release(batch);
    const again = batch.map(({ resource }) => asked(resource));
    const unlock = await lockRow('locks y');
    let over = false;
    const all = one.claim(again).finally(() => (over = true));
    for (const claim of [again[0]!, again[2]!]) {
      await until('was it taken', async () => /^h /.test((await two.renew([claim])).join()));
    }
    expect(over).toBe(false);
    await unlock();
    expect((await all).map(numberOf)).toHaveLength(4);
  });

  test('claims of a batch are refused after releases, which free only their own', async () => {
    const one = database.caller();
    const [late, other] = [asked('late copy'), asked('beside it')];
    expect(await one.release([late])).toEqual(['0']);
    const [refused, granted] = await one.claim([late, other]);
    expect(refused).toBe('g unknown ');
    const strangers = [asked('beside it'), asked('late copy')];
    expect(await one.release(strangers)).toEqual(['0', '0']);
    expect(numberOf((await one.claim([other]))[0])).toBe(numberOf(granted));
  });

  test('numbers grow although the clock goes back', async () => {
    const one = database.caller();
    const [first, next] = [asked('clock back'), asked('clock back')];
    await one.claim([first]);
    await one.release([first]);
    const row = `${lock} where name = 'clock back'`;
    await database.query(`update ${lock} set last = last + 3600000000 where name = 'clock back'`);
    const [{ last } = { last: 0 }] = await database.query<{ last: number }>(
      `select last from ${row}`,
    );
    expect((await one.claim([next])).map(numberOf)).toEqual([BigInt(last) + 1n]);
  });

  test('sixteen programs with batches that overlap never meet in a deadlock', async () => {
    await expectCalmStorm(
      async () => database.caller(),
      () => database.sweep(),
    );
  });

  describe('a sweep', () => sweepCases(database));
}

function sweepCases({ tables, query, hold, caller, sweep }: Database): void {
  const { lock, store, kept } = tables;
  const names = async (table: string, like: string): Promise<string[]> => {
    const rows = await query<{ name: unknown }>(
      `select name from ${table} where name like '${like}' order by name`,
    );
    return rows.map(({ name }) => String(name));
  };
  const keepOver = (...over: readonly string[]) =>
    query(`insert into ${kept} values ${over.map((name) => `('${name}', '', 1)`).join()}`);

  test('takes what was idle, leaves what is held, and no number is given again', async () => {
    const one = caller();
    const [claim, other] = [asked('swept'), asked('swept not')];
    const [before = 0n] = (await one.claim([claim, other])).map(numberOf);
    await one.release([claim]);
    await sweep();
    expect(await names(lock, 'swept')).toHaveLength(1);
    await sweep(0);
    expect(await names(lock, 'swept')).toEqual([]);
    expect(await names(lock, 'swept not')).toHaveLength(1);
    const [{ highest } = { highest: 0 }] = await query<{ highest: number }>(
      `select highest from ${store}`,
    );
    expect(BigInt(highest)).toBeGreaterThan(before);
    const [number] = (await one.claim([asked('swept')])).map(numberOf);
    expect(number).toBeGreaterThan(BigInt(highest));
  });

  test('takes all there is, a portion at a time, but what others have', async () => {
    const old = Array.from({ length: MANY }, (_, n) => `('old ${n}', 1, ${n}, 1, '')`);
    await query(`insert into ${lock} (name, rev, last, until, crowd) values ${old.join()}`);
    const release = await hold(`select name from ${lock} where name = 'old 7' for update`);
    await sweep();
    expect(await names(lock, 'old %')).toEqual(['old 7']);
    await release();
  });

  test('leaves a crowd whose holder has just died', async () => {
    const row = `'crowd', 1, 1, ${Date.now() * 1000}, 1, ''`;
    await query(`insert into ${lock} (name, rev, last, until, waiters, crowd) values (${row})`);
    await later();
    await sweep(0);
    expect(await names(lock, 'crowd')).toHaveLength(1);
    await query(`delete from ${lock} where name = 'crowd'`);
  });

  test('takes records that are over, but those that others have', async () => {
    await keepOver('past 1', 'past 2', 'past 3');
    const release = await hold(`select name from ${kept} where name = 'past 2' for update`);
    await sweep();
    expect(await names(kept, 'past %')).toEqual(['past 2']);
    await release();
  });

  test('need not come for records that are over: they go with those that come', async () => {
    const one = caller();
    await sweep();
    await keepOver('over 1', 'over 2');
    const [claim, waiter] = [asked('comes'), asked('comes')];
    await one.claim([claim]);
    await one.claim([waiter]);
    const record = { text: 'x', ms: 60_000 };
    expect(await (await one.store()).keep?.(waiter, record)).toBe(false);
    expect(await (await one.store()).keep?.(claim, record)).toBe(true);
    expect(await names(kept, 'over %')).toEqual([]);
  });
}

function later(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LATER_MS));
}
