/**
 * Steps on rows that others change between the read and the write: here the rows are a map, and a
 * rival writes when it is told to.
 */
import { expect, test } from 'vitest';
import type { ClaimStep, FoundRows, LockWrite, Rows } from '../../../src/stores/sql/applying.ts';
import { Applying } from '../../../src/stores/sql/applying.ts';
import type { LockRow } from '../../../src/stores/sql/row.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { blocked } from './blocked.ts';

const TTL_MS = 6000;

class Table implements Rows {
  readonly rows = new Map<string, LockRow>();
  readonly asked: string[] = [];
  /** How many more reads of a row others follow with a change. */
  readonly hot = new Map<string, number>();
  readonly busy = new Set<string>();

  async read(names: readonly string[]): Promise<FoundRows> {
    this.asked.push(`read ${names}`);
    const found = this.#found(names);
    for (const name of names) this.#rival(name);
    return found;
  }

  async exchange(
    names: readonly string[],
    make: (found: FoundRows) => readonly LockWrite[],
  ): Promise<readonly string[]> {
    this.asked.push(`exchange ${names}`);
    return this.#put(make(this.#found(names)));
  }

  async write(writes: readonly LockWrite[]): Promise<readonly string[]> {
    this.asked.push(`write ${writes.map(({ name }) => name)}`);
    if (writes.some(({ name }) => this.busy.has(name))) throw blocked();
    return this.#put(writes);
  }

  #found(names: readonly string[]): FoundRows {
    const rows = names.flatMap((name) => this.rows.get(name) ?? []);
    return { moment: { now: 1, openAt: 0, highest: 0 }, rows };
  }

  #put(writes: readonly LockWrite[]): string[] {
    const fit = writes.filter(({ name, rev }) => (this.rows.get(name)?.rev ?? 0) === rev);
    for (const { name, rev, columns } of fit)
      this.rows.set(name, { name, ...columns, rev: rev + 1 });
    return fit.map(({ name }) => name);
  }

  #rival(name: string): void {
    const [row, left = 0] = [this.rows.get(name), this.hot.get(name)];
    this.hot.set(name, left - 1);
    if (row && left > 0) this.rows.set(name, { ...row, rev: row.rev + 1 });
  }
}

function scene() {
  const clock = new FakeClock();
  const table = new Table();
  const applying = new Applying(table, clock);
  const enter = (resource: string, id: string) => {
    const claim = claimOf(resource, { id, kind: 'permits', limit: 2, ttlMs: TTL_MS });
    const entering = { number: 1n, maxWaiters: 100 };
    const step: ClaimStep<string> = (_, { queue }) => queue.enter(claim, 0, entering).state;
    return applying.apply([claim], step, { lane: 'claims' })[0];
  };
  return { clock, table, enter };
}

test('what a process does at once with a lock is one write', async () => {
  const { table, enter } = scene();
  const first = enter('a', '1');
  const others = [enter('a', '2'), enter('a', '3'), enter('b', '4')];
  expect(await Promise.all([first, ...others])).toEqual(['held', 'held', 'waiting', 'held']);
  expect(table.asked.filter((each) => each.startsWith('write'))).toEqual([
    'write a',
    'write b',
    'write a',
  ]);
});

test('a row that always changes before the write is changed in line after some races', async () => {
  const { table, enter } = scene();
  await enter('a', '1');
  table.hot.set('a', 20);
  table.asked.length = 0;
  expect(await enter('a', '2')).toBe('held');
  expect(table.asked.at(-1)).toBe('exchange a');
  expect(table.asked.filter((each) => each === 'write a')).toHaveLength(3);
});

test('a row that stays locked fails its own steps alone, after a sixth of their TTL', async () => {
  const { clock, table, enter } = scene();
  table.busy.add('a');
  const stuck = enter('a', '1')?.catch((error: unknown) => error);
  expect(await enter('b', '2')).toBe('held');
  await clock.advance(TTL_MS / 6 - 100);
  table.asked.length = 0;
  await clock.advance(200);
  expect(await stuck).toMatchObject({ code: 'STORE', retryable: true, outcome: 'failed' });
  table.busy.delete('a');
  expect(await enter('a', '3')).toBe('held');
});

test('a row that is locked for a moment is asked for again', async () => {
  const { clock, table, enter } = scene();
  table.busy.add('a');
  const entered = enter('a', '1');
  await clock.advance(TTL_MS / 12);
  table.busy.delete('a');
  await clock.advance(TTL_MS / 12 - 100);
  expect(await entered).toBe('held');
});

test('an error of a step is its own, and the others of its write count', async () => {
  const { table, enter } = scene();
  await enter('a', '1');
  const applying = new Applying(table, new FakeClock());
  const [mine, other] = [claimOf('a'), claimOf('a')];
  const step: ClaimStep<number> = (claim, { queue }) => {
    if (claim === mine) throw new Error('mine');
    return queue.size;
  };
  const [failing, fine] = applying.apply([mine, other], step, { lane: 'claims' });
  await expect(failing).rejects.toThrow('mine');
  expect(await fine).toBe(1);
});
