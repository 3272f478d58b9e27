import { type Claim, ClaimQueue, REPLACEABLE } from 'holdfast/store';
import { describe, expect, it } from 'vitest';

const TERMS = { number: 1n, maxWaiters: 100 };

function claimOf(id: string, over: Partial<Claim> = {}): Claim {
  const holder = { host: 'test', pid: 1, since: 0, label: id };
  const terms = { kind: 'mutex', permits: 1, limit: 1, ttlMs: 100, queue: true } as const;
  return { resource: 'r', id, holder, ...terms, ...over };
}

/** One that newer ones may replace. */
function markedOf(id: string, over: Partial<Claim> = {}): Claim {
  const claim = claimOf(id);
  const mark = { ...claim.holder, mark: REPLACEABLE };
  return { ...claim, ifBusy: 'replace-waiting', holder: mark, ...over };
}

/** These claims in a queue, all entered at 0. */
function queueOf(...claims: readonly Claim[]): ClaimQueue {
  const queue = new ClaimQueue();
  for (const claim of claims) queue.enter(claim, 0, TERMS);
  queue.takeTold();
  return queue;
}

describe('the newest claim', () => {
  const [a, b, c] = [claimOf('a'), markedOf('b'), claimOf('c')];

  it('tells those that it replaces and the new first waiter, and not itself', () => {
    const queue = queueOf(a, b, c);
    const newest = markedOf('newest');
    expect(queue.enter(newest, 1, TERMS)).toMatchObject({ state: 'waiting', ahead: 2 });
    expect(queue.takeTold().map(({ id }) => id)).toEqual(['b', 'c']);
    expect(queue.beat(b, 1)).toEqual({ state: 'gone', why: 'replaced' });
  });

  it('is the first waiter by its reply, where none but the replaced waited', () => {
    const queue = queueOf(a, b);
    queue.enter(markedOf('newest'), 1, TERMS);
    // The holder hears of its first waiter once more.
    expect(queue.takeTold().map(({ id }) => id)).toEqual(['b', 'a']);
    queue.leave(a, 2);
    expect(queue.takeTold().map(({ id }) => id)).toEqual(['newest']);
  });

  it('may hold at once, where what it replaces was in its way', () => {
    const permits = { kind: 'permits', limit: 3 } as const;
    const queue = queueOf(
      claimOf('holder', { ...permits, permits: 2 }),
      markedOf('large', { ...permits, permits: 3 }),
    );
    const newest = markedOf('newest', { ...permits, permits: 1 });
    expect(queue.enter(newest, 1, TERMS)).toMatchObject({ state: 'held', waiters: 0 });
  });

  it('leaves the end of a hold that is already to end as it is', () => {
    const holder = markedOf('holder');
    const queue = queueOf(holder);
    queue.leave(holder, 0, 50);
    queue.enter(markedOf('newest', { ifBusy: 'replace' }), 1, TERMS);
    expect(queue.beat(holder, 2)).toEqual({ state: 'gone', why: 'unknown' });
  });

  it('is kept with its mark, and what it replaced with the reason, in a text', () => {
    const queue = queueOf(a, b);
    const newest = markedOf('newest');
    queue.enter(newest, 1, TERMS);
    const again = ClaimQueue.from(JSON.parse(JSON.stringify(queue)));
    expect(again.enter(b, 2, TERMS)).toEqual({ state: 'gone', why: 'replaced' });
    again.enter(markedOf('newer'), 2, TERMS);
    expect(again.beat(newest, 2)).toEqual({ state: 'gone', why: 'replaced' });
  });
});
