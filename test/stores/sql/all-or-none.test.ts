/** Several tries in one transaction, of which the rows here are a map. */
import type { Claim, ClaimStatus } from 'holdfast/store';
import { expect, test } from 'vitest';
import { enterAll } from '../../../src/stores/sql/all-or-none.ts';
import type { FoundRows, LockWrite } from '../../../src/stores/sql/applying.ts';
import type { Crowd, LockRow } from '../../../src/stores/sql/row.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { blocked } from './blocked.ts';

const TTL_MS = 6000;

type Make = (found: FoundRows) => readonly LockWrite[];

function scene() {
  const clock = new FakeClock();
  const rows = new Map<string, LockRow>();
  const trouble = { busy: false, loses: '' };
  async function write(writes: readonly LockWrite[]): Promise<readonly string[]> {
    const fit = writes.filter(({ name, rev }) => (rows.get(name)?.rev ?? 0) === rev);
    for (const { name, rev, columns } of fit) rows.set(name, { name, ...columns, rev: rev + 1 });
    return fit.map(({ name }) => name);
  }
  async function exchange(names: readonly string[], make: Make): Promise<readonly string[]> {
    if (trouble.busy) throw blocked();
    const found = names.flatMap((name) => rows.get(name) ?? []);
    const writes = make({ moment: { now: 1, openAt: 0, highest: 0 }, rows: found });
    return write(writes.filter(({ name }) => name !== trouble.loses));
  }
  const enter = (claim: Claim, { queue }: Crowd): ClaimStatus =>
    queue.enter(claim, 0, { number: 1n, maxWaiters: 10 });
  const terms = { rows: { exchange, write }, clock, enter };
  const tried = async (...names: string[]): Promise<string[]> => {
    const claims = names.map((name) => claimOf(name, { queue: false, ttlMs: TTL_MS }));
    return (await enterAll(claims, terms)).map(({ state }) => state);
  };
  return { clock, rows, trouble, tried };
}

test('the rows of all are written, or none', async () => {
  const { rows, tried } = scene();
  expect(await tried('a', 'b')).toEqual(['held', 'held']);
  expect(await tried('c', 'b', 'd')).toEqual(['gone', 'gone', 'gone']);
  expect([...rows.keys()]).toEqual(['a', 'b']);
  // First it was made, empty.
  expect(rows.get('b')?.rev).toBe(2);
});

test('rows are made in the order of their names, whatever that of the claims is', async () => {
  const { rows, tried } = scene();
  expect(await tried('b', 'c', 'a')).toEqual(['held', 'held', 'held']);
  expect([...rows.keys()]).toEqual(['a', 'b', 'c']);
});

test('a row that another has made meanwhile is looked at', async () => {
  const { rows, tried } = scene();
  await tried('b');
  const made = rows.get('b') as LockRow;
  rows.delete('b');
  const trying = tried('a', 'b');
  rows.set('b', made);
  expect(await trying).toEqual(['gone', 'gone']);
  expect(rows.get('a')?.id).toBeNull();
});

test('a row that is locked for a moment is asked for again', async () => {
  const { clock, trouble, tried } = scene();
  trouble.busy = true;
  const trying = tried('a', 'b');
  await clock.advance(TTL_MS / 12);
  trouble.busy = false;
  await clock.advance(100);
  expect(await trying).toEqual(['held', 'held']);
});

test('a row that stays locked fails the try, after a sixth of its TTL', async () => {
  const { clock, rows, trouble, tried } = scene();
  trouble.busy = true;
  const trying = tried('a', 'b').catch((error: unknown) => error);
  await clock.advance(TTL_MS / 6 + 100);
  expect(await trying).toMatchObject({ code: 'STORE', retryable: true, outcome: 'failed' });
  expect(rows.size).toBe(0);
});

test('a write that leaves one out has an unknown outcome', async () => {
  const { trouble, tried } = scene();
  trouble.loses = 'b';
  await expect(tried('a', 'b')).rejects.toMatchObject({ code: 'STORE', outcome: 'unknown' });
});
