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
  /** Sets these columns of what all programs know, as a sweep does, or a loss of data. */
  know(columns: string): Promise<unknown>;
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
    expect(await one.release([asked('beside it'), asked('late copy')])).toEqual(['0', '0']);
    expect(numberOf((await one.claim([other]))[0])).toBe(numberOf(granted));
  });

  test('numbers grow although the clock goes back', async () => {
    const [one, two] = [database.caller(), database.caller()];
    const [first, next] = [asked('clock back'), asked('clock back')];
    await one.claim([first]);
    await one.release([first]);
    const row = `${lock} where name = 'clock back'`;
    await database.query(`update ${lock} set last = last + 3600000000 where name = 'clock back'`);
    const [{ last } = { last: 0 }] = await database.query<{ last: number }>(
      `select last from ${row}`,
    );
    expect((await two.claim([next])).map(numberOf)).toEqual([BigInt(last) + 1n]);
  });

  test('sixteen programs with batches that overlap never meet in a deadlock', async () => {
    await expectCalmStorm(
      async () => database.caller(),
      () => database.sweep(),
    );
  });

  describe('a row that the program has taken before', () => takenCases(database));

  describe('a sweep', () => sweepCases(database));
}

function takenCases({ tables, query, know, caller, sweep }: Database): void {
  const [one, two] = [caller(), caller()];
  /** It takes the row and leaves it free again; the number. */
  async function takenBy(program: Caller, name: string): Promise<bigint> {
    const claim = asked(name);
    const number = numberOf((await program.claim([claim]))[0]);
    expect(await program.release([claim])).toEqual(['1']);
    return number;
  }
  const inAnHour = (): number => (Date.now() + 3_600_000) * 1000;
  const lastOf = async (name: string): Promise<bigint> => {
    const sql = `select last from ${tables.lock} where name = '${name}'`;
    const [row] = await query<{ last: number }>(sql);
    return BigInt(row?.last ?? 0);
  };

  test('is taken in turns with programs that are new to it, and numbers grow', async () => {
    let before = 0n;
    for (const each of [one, two, one, two, caller(), one]) {
      const number = await takenBy(each, 'in turns');
      expect(number).toBeGreaterThan(before);
      expect(await lastOf('in turns')).toBe(number);
      before = number;
    }
  });

  test('is not taken from its holder', async () => {
    await takenBy(one, 'held by another');
    const holder = asked('held by another');
    const number = numberOf((await two.claim([holder]))[0]);
    const [trying, waiting] = [asked(holder.resource, { queue: false }), asked(holder.resource)];
    expect(await one.claim([trying])).toEqual(['g refused ']);
    expect(await one.claim([waiting])).toEqual([expect.stringMatching(/^w /)]);
    expect((await two.renew([holder])).map(numberOf)).toEqual([number]);
  });

  test('remembers the release of a claim that comes late', async () => {
    const late = asked('late again');
    await takenBy(one, 'late again');
    // By another, or the program would no longer take the row for free.
    expect(await two.release([late])).toEqual(['0']);
    expect(await one.claim([late])).toEqual(['g unknown ']);
  });

  test('gives the next number although the clock goes back', async () => {
    await takenBy(one, 'back again');
    const later = `update ${tables.lock} set last = last + 3600000000 where name = 'back again'`;
    await query(later);
    const last = await lastOf('back again');
    expect(await takenBy(one, 'back again')).toBe(last + 1n);
  });

  test('gives no number that a row before it may have given', async () => {
    await takenBy(one, 'far back');
    let before = BigInt(inAnHour());
    await know(`highest = ${before}`);
    for (let i = 0; i < 3; i++) {
      const number = await takenBy(one, 'far back');
      expect(number).toBeGreaterThan(before);
      before = number;
    }
    await know('highest = 0');
  });

  test('is taken by none after a loss of data', async () => {
    await takenBy(one, 'not so soon');
    await know(`open_at = ${inAnHour()}`);
    const claims = await one.claim([asked('not so soon')]);
    await know('open_at = 0');
    expect(claims).toEqual([expect.stringMatching(/^w .* data-loss \d+$/)]);
  });

  test('is made anew where it was swept away', async () => {
    const before = await takenBy(one, 'swept again');
    await sweep(0);
    expect(await lastOf('swept again')).toBe(0n);
    expect(await takenBy(one, 'swept again')).toBeGreaterThan(before);
  });
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
