/** Why a wait is not over, from what is known; and in words. */
import { hostname } from 'node:os';
import type { Member } from 'holdfast';
import { expect, it } from 'vitest';
import { reasonText, type Waiting, waitingOf } from '../../src/store-calls/waiting.ts';
import { failure, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

const SINCE = 1_700_000_000_000;

function member(permits: number, holder: Partial<Member['holder']> = {}): Member {
  const named = { host: 'db-7', pid: 41, since: SINCE, ...holder };
  const life = { ttlMs: 10_000, leftMs: 10_000 };
  return { number: 7n, kind: 'permits', permits, ...life, holder: named };
}

function why(known: Parameters<typeof waitingOf>[0]): Waiting['why'] {
  return waitingOf(known).why;
}

it('holders without room hold; room, or waiters alone, make a queue', () => {
  const ahead = (count: number, holders: readonly Member[], limit = 3): Waiting['why'] =>
    why({ status: waiting({ ahead: count }), queue: { holders, limit } });
  expect(ahead(1, [member(3)])).toBe('held');
  expect(ahead(2, [member(3)])).toBe('held');
  expect(ahead(1, [member(2)])).toBe('held');
  expect(ahead(2, [member(2)])).toBe('queue');
  expect(ahead(3, [member(1), member(2)])).toBe('held');
  expect(ahead(0, [])).toBe('queue');
  // Without a look, one holder is taken for granted, who may hold it all.
  expect(why({ status: waiting({ ahead: 5 }), limit: 3 })).toBe('held');
  // And without a reply of its own, those who wait count.
  expect(why({ queue: { holders: [member(2)], waiters: [member(3)], limit: 3 } })).toBe('queue');
  expect(why({ queue: { holders: [member(2)], limit: 3 } })).toBe('held');
});

it('a smaller limit, a loss of data and a failure come first, in this order', () => {
  const queue = { holders: [member(2)], limit: 2 };
  expect(waitingOf({ queue, limit: 3 })).toMatchObject({ why: 'limit', limit: 2 });
  expect(waitingOf({ queue, limit: 2 })).toMatchObject({ why: 'held', limit: undefined });
  const lost = { ...queue, quarantineMs: 500 };
  expect(waitingOf({ queue: lost, limit: 3 })).toMatchObject({ why: 'data-loss', leftMs: 500 });
  expect(waitingOf({ queue: lost, failure: failure() }).why).toBe('store-away');
});

it('is said in words', () => {
  const said = (over: Partial<Waiting>): string =>
    reasonText({ ...waitingOf({ since: SINCE }), ...over });
  expect(said({})).toBe('');
  expect(said({ why: 'store-away', cause: failure() })).toBe('; the store fails: broken');
  const cause = Object.assign(failure(), { message: '127.0.0.1 is away.' });
  expect(said({ why: 'store-away', cause })).toBe('; the store fails: 127.0.0.1 is away');
  expect(said({ why: 'data-loss', leftMs: 2_340 })).toMatch(/grants nothing for another 2\.3 s$/);
  expect(said({ limit: 2 })).toBe('; the limit in force is 2');
  const own = { host: hostname(), pid: process.pid };
  const born = Math.ceil(performance.timeOrigin);
  const holders = (holder: Partial<Member['holder']>): string =>
    said({ holders: [member(1, holder)] });
  expect(holders({})).toBe('; held by db-7, pid 41');
  expect(holders({ label: 'mail' })).toBe('; held by mail on db-7, pid 41');
  expect(holders({ ...own, since: born })).toMatch(/\d \(this process\)$/);
  for (const other of [{ host: 'db-7' }, { pid: 41 }, { since: born - 60_000 }]) {
    expect(holders({ ...own, since: born, ...other })).not.toContain('this process');
  }
});

it('asks once who holds for all that give up together, anew for the next, for 250 ms', async () => {
  const { clock, store, locks, late } = setUp();
  store.onClaim = () => waiting();
  const after = async (ms: number): Promise<unknown[]> => {
    store.onInspect = () => late(ms, { holders: [member(3)], waiters: [] });
    const waits = [1, 2].map(() => watchOutcome(locks.mutex('a').acquire({ wait: 10 })));
    await clock.advance(300);
    return waits.map(({ error }) => (error as Waiting).holders.length);
  };
  expect([await after(200), store.sent('inspect').length]).toEqual([[1, 1], 1]);
  expect([await after(260), store.sent('inspect').length]).toEqual([[0, 0], 2]);
});
