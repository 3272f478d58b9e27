/** Which claims of a batch a store in a database asks about again, and when. */
import { StoreError } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { expect, test } from 'vitest';
import { askApart, markBlocked } from '../../../src/stores/sql/apart.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const TTL_MS = 6000;

function claimOf(id: string): Claim {
  return {
    ...{ resource: id, id, kind: 'mutex', permits: 1, limit: 1, ttlMs: TTL_MS, queue: true },
    holder: { host: 'test', pid: 1, since: 0 },
  };
}

/** A database in which rows are busy as long as they are in here. */
function scene(...names: readonly string[]) {
  const clock = new FakeClock();
  const busy = new Set(names);
  const asked: string[] = [];
  const ask = async (claims: readonly Claim[], _waitMs: number): Promise<readonly string[]> => {
    const ids = claims.map(({ id }) => id);
    asked.push(ids.join(' '));
    if (ids.length === 1 && busy.has(ids[0] ?? '')) throw blocked();
    const places = [...ids.keys()].filter((i) => busy.has(ids[i] ?? ''));
    return [...places.map((i) => `b ${i}`), ...ids.filter((id) => !busy.has(id))];
  };
  return { clock, busy, asked, ask };
}

function blocked(): StoreError {
  const error = new StoreError('busy', { retryable: true, outcome: 'failed' });
  markBlocked(error);
  return error;
}

const CLAIMS = ['a', 'b', 'c', 'd'].map(claimOf);

test('who is busy is asked about again at once, alone, and then all who still are', async () => {
  const { clock, busy, asked, ask } = scene('b', 'd');
  const replies = askApart(CLAIMS, clock, ask);
  await clock.advance(0);
  expect(asked).toEqual(['a b c d', 'b']);
  busy.clear();
  await clock.advance(100);
  expect(await replies).toEqual(['a', 'b', 'c', 'd']);
  expect(asked).toEqual(['a b c d', 'b', 'b d']);
});

test('of a batch, who stays busy fails alone, long before one who came alone', async () => {
  const { clock, ask } = scene('b');
  const replies = askApart(CLAIMS, clock, ask);
  await clock.advance(TTL_MS / 12);
  expect(await replies).toMatchObject(['a', { code: 'STORE', outcome: 'failed' }, 'c', 'd']);
  const alone = askApart(CLAIMS.slice(1, 2), clock, ask).catch(
    (error: StoreError) => error.message,
  );
  let over = false;
  void alone.then(() => (over = true));
  await clock.advance(TTL_MS / 12);
  expect(over).toBe(false);
  await clock.advance(TTL_MS / 6);
  expect(await alone).toBe('busy');
});

test('a batch that had to wait as a whole is halved', async () => {
  const { clock, asked } = scene();
  const waits: number[] = [];
  const replies = askApart(CLAIMS, clock, async (claims, waitMs) => {
    const ids = claims.map(({ id }) => id);
    asked.push(ids.join(' '));
    waits.push(waitMs);
    if (ids.includes('d')) throw blocked();
    return ids;
  });
  await clock.advance(TTL_MS);
  expect(await replies).toMatchObject(['a', 'b', 'c', { code: 'STORE' }]);
  expect(asked.slice(0, 5)).toEqual(['a b c d', 'a b', 'c d', 'c', 'd']);
  expect(waits.slice(0, 5)).toEqual([50, 1, 1, 1, 1]);
});
