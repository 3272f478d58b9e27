import { type Claim, ClaimQueue, type ClaimStatus, type Entry } from 'holdfast/store';
import { describe, expect, it } from 'vitest';

const TERMS = { number: 1n, maxWaiters: 100 };

function claimOf(id: string, over: Partial<Claim> = {}): Claim {
  const holder = { host: 'test', pid: 1, since: 0, label: id };
  const terms = { kind: 'mutex', permits: 1, limit: 1, ttlMs: 100, queue: true } as const;
  return { resource: 'r', id, holder, ...terms, ...over };
}

/** These claims in a queue, all entered at 0. */
function queueOf(...claims: readonly Claim[]): ClaimQueue {
  const queue = new ClaimQueue();
  for (const claim of claims) queue.enter(claim, 0, TERMS);
  queue.takeTold();
  return queue;
}

const told = (queue: ClaimQueue): readonly string[] => queue.takeTold().map(({ id }) => id);

describe('the queue as a value', () => {
  const [a, b, c] = [claimOf('a'), claimOf('b'), claimOf('c')];

  it('leaves to its caller who is to be notified, once', () => {
    const queue = queueOf(a);
    queue.enter(b, 0, TERMS);
    expect(told(queue)).toEqual(['a']);
    queue.leave(a, 1);
    expect(told(queue)).toEqual(['b']);
    expect(told(queue)).toEqual([]);
  });

  it('tells who is first by now, also when one asks that was evicted', () => {
    const short = claimOf('short', { ttlMs: 50 });
    const queue = queueOf(a);
    expect(queue.evict(1n, 0, { reason: 'a test', now: true })).toBe(true);
    for (const claim of [b, short, c]) queue.enter(claim, 0, TERMS);
    told(queue);
    expect(queue.enter(a, 60, TERMS)).toMatchObject({ state: 'gone', why: 'evicted' });
    expect(told(queue)).toEqual(['c']);
  });

  it('changes nothing of a claim that is to end', () => {
    const writer = claimOf('writer', { kind: 'write', permits: 9, limit: 9 });
    const queue = queueOf(writer);
    queue.leave(writer, 0, 50);
    expect(queue.downgrade(writer, 1)).toEqual({ state: 'gone', why: 'unknown' });
    expect(queue.describe('r', 1).holders).toMatchObject([{ kind: 'write', permits: 9 }]);
  });

  it('lets nobody take a hold before all that was granted before a loss has ended', () => {
    const given = queueOf(a);
    const ids = { from: 'a', to: 'on its way' };
    expect(given.handOver(a, ids, 0)).toMatchObject({ why: 'handed-over' });
    const queue = new ClaimQueue({ ...given.state, closedUntil: 50 });
    const taking = { from: ids.to, to: 'b' };
    expect(queue.handOver(b, taking, 49)).toMatchObject({ state: 'gone', why: 'store-reset' });
    expect(queue.handOver(b, taking, 50)).toMatchObject({ state: 'held', token: 1n });
  });

  it('gives a claim at least the number that is asked for, and grows from there', () => {
    const queue = queueOf(a);
    const next = (number: bigint): ClaimStatus => {
      queue.leave(a, 0);
      return queue.enter(claimOf(`from ${number}`, { limit: 9, kind: 'permits' }), 0, {
        ...TERMS,
        number,
      });
    };
    expect(next(1_000n)).toMatchObject({ token: 1_000n });
    expect(next(5n)).toMatchObject({ token: 1_001n });
  });

  it('ends lives by the earlier, and counts them from the later time that it may be', () => {
    const queue = new ClaimQueue();
    queue.lead = 30;
    expect(queue.enter(a, 0, TERMS)).toMatchObject({ leftMs: 100 });
    expect(queue.enter(a, 40, TERMS)).toMatchObject({ state: 'held', leftMs: 60 });
    expect(queue.beat(a, 129)).toMatchObject({ state: 'held', leftMs: 100 });
    expect(queue.beat(a, 129 + 130)).toMatchObject({ state: 'gone', why: 'expired' });
  });

  it('raises the beat with every sign of life, and with nothing else', () => {
    const queue = queueOf(a, b);
    const beats = (): readonly number[] => queue.toJSON().claims.map(({ beat }) => beat);
    queue.enter(a, 1, TERMS);
    queue.describe('r', 1);
    queue.keep(a, 1, { text: 'x', ms: 10 });
    expect(beats()).toEqual([1, 1]);
    queue.beat(b, 1);
    queue.leave(a, 1, 50);
    queue.leave(a, 2, 50);
    expect(beats()).toEqual([2, 2]);
  });

  it('grants nothing while it is closed', () => {
    const queue = new ClaimQueue({ closedUntil: 50 });
    expect(queue.enter(a, 10, TERMS)).toMatchObject({ why: 'data-loss', retryInMs: 40 });
    expect(queue.beat(b, 10)).toMatchObject({ why: 'store-reset' });
    expect(queue.beat(a, 50)).toMatchObject({ state: 'held' });
    expect(queue.beat(b, 50)).toMatchObject({ why: 'expired' });
  });

  it('has no life below none, where the time may be later than it is known to be', () => {
    const queue = queueOf(a, b);
    queue.lead = 150;
    const statuses = [...queue.claims].map((entry) => queue.statusOf(entry, 0));
    expect(statuses).toMatchObject([
      { state: 'held', leftMs: 0 },
      { state: 'waiting', leftMs: 0 },
    ]);
  });

  it('counts those who are left out of a part', () => {
    const whole = [...queueOf(a, ...Array.from({ length: 9 }, (_, i) => claimOf(`${i}`))).claims];
    const [holder, first, last] = [whole[0], whole[1], whole[9]] as [Entry, Entry, Entry];
    const leftOut = { count: 7, after: first.number };
    const part = new ClaimQueue({ last: last.number, claims: [holder, first, last], leftOut });
    expect(part.beat(a, 1)).toMatchObject({ state: 'held', waiters: 9 });
    expect(part.beat(claimOf('8'), 1)).toMatchObject({ state: 'waiting', ahead: 9 });
    expect(part.enter(b, 1, { ...TERMS, maxWaiters: 9 })).toMatchObject({ why: 'full' });
    expect(part.enter(b, 1, TERMS)).toMatchObject({ state: 'waiting', ahead: 10 });
  });

  it('is blank again when all that the next claim should know is over', () => {
    const queue = queueOf(a);
    queue.keep(a, 0, { text: 'done', ms: 1_000 });
    queue.leave({ ...a, unanswered: true }, 10);
    queue.tidy(500);
    expect([queue.size, queue.isBlank]).toEqual([0, false]);
    queue.tidy(1_000);
    expect(queue.isBlank).toBe(true);
  });

  it('remembers how a hold ended until it is taken over, or forgotten', () => {
    const queue = queueOf(a);
    queue.tidy(100);
    expect(queue.isBlank).toBe(false);
    expect(queue.unfinished).toEqual({ reason: 'expired', token: 1n });
    queue.forgetEnding();
    expect(queue.isBlank).toBe(true);
  });

  it('counts what else it promises from the later time, too', () => {
    const queue = queueOf(a);
    queue.lead = 30;
    expect(queue.describe('r', 50).holders).toMatchObject([{ leftMs: 20 }]);
    // Asking again before a holder is dead by the earlier time would be in vain.
    expect(queue.enter(b, 95, TERMS)).toMatchObject({ state: 'waiting', retryInMs: 7.5 });
    expect(queue.statusOf(queue.find('b') as Entry, 50)).toMatchObject({ retryInMs: 20 });
    queue.leave({ ...b, unanswered: true }, 95);
    expect(queue.farewell('b', 95 + 129)).toMatchObject({ why: 'unknown' });
    expect(queue.farewell('b', 95 + 130)).toBe(undefined);
    queue.handOver(a, { from: 'a', to: 'ticket' }, 95);
    expect(queue.beat(claimOf('ticket'), 95 + 129)).toMatchObject({ why: 'handed-over' });
    expect(queue.beat(claimOf('ticket'), 95 + 130)).toMatchObject({ why: 'expired' });
  });

  it('lowers no number, and gives a waiter none', () => {
    const queue = queueOf(a, b);
    expect(queue.raise(a, 1, 50n)).toMatchObject({ token: 50n });
    expect(queue.raise(a, 1, 9n)).toMatchObject({ token: 50n });
    queue.raise(b, 1, 99n);
    expect(queue.last).toBe(50n);
    queue.leave(a, 1);
    expect(queue.beat(b, 1)).toMatchObject({ token: 51n });
    const behind = new ClaimQueue({ ...queueOf(a).state, last: 70n, greatest: 60n });
    behind.raise(a, 1, 65n);
    expect(behind.state).toMatchObject({ last: 70n, greatest: 65n });
    behind.raise(a, 1, 64n);
    expect(behind.state).toMatchObject({ last: 70n, greatest: 65n });
  });

  it('is as it was after a claim that it refuses', () => {
    const queue = queueOf(a);
    const before = JSON.stringify(queue);
    expect(queue.enter(claimOf('try', { queue: false }), 1, TERMS)).toMatchObject({
      why: 'refused',
    });
    expect(JSON.stringify(queue)).toBe(before);
    const closed = new ClaimQueue({ closedUntil: 50 });
    expect(closed.enter(claimOf('try', { queue: false }), 10, TERMS)).toEqual({
      ...{ state: 'gone', why: 'refused', quarantineMs: 40 },
    });
  });

  it('lets a claim that is to end go as it was told, whatever leaves later', () => {
    const queue = queueOf(a);
    queue.evict(1n, 0, { reason: 'a test', now: false });
    expect(queue.leave(a, 1, 50)).toBe(true);
    expect(queue.beat(a, 2)).toMatchObject({ why: 'evicted', detail: 'a test' });
  });

  it('turns nothing but a write claim into a read claim', () => {
    const queue = queueOf(a);
    expect(queue.downgrade(a, 1)).toMatchObject({ state: 'held' });
    expect(queue.describe('r', 1).holders).toMatchObject([{ kind: 'mutex' }]);
  });

  it('counts those ahead exactly, up to a hundred, and no further', () => {
    const queue = queueOf(a);
    for (let i = 0; i < 104; i++) queue.enter(claimOf(`${i}`), 0, { ...TERMS, maxWaiters: 200 });
    const aheadOf = (i: number): unknown => queue.beat(claimOf(`${i}`), 1);
    expect(aheadOf(0)).toMatchObject({ ahead: 1 });
    expect(aheadOf(2)).toMatchObject({ ahead: 3 });
    expect(aheadOf(100)).toMatchObject({ ahead: 101 });
    expect(aheadOf(101)).toMatchObject({ ahead: 104 });
  });

  it('keeps a tombstone for its time, and no longer', () => {
    const queue = queueOf();
    const left = (id: string, ttlMs: number, now: number): unknown =>
      queue.leave({ ...claimOf(id, { ttlMs }), unanswered: true }, now);
    left('early', 100, 0);
    left('late', 300, 50);
    const ids = (): readonly string[] => [...queue.state.tombstones].map(([id]) => id);
    queue.tidy(99);
    expect(ids()).toEqual(['early', 'late']);
    expect(queue.isBlank).toBe(false);
    left('next', 100, 100);
    expect(ids()).toEqual(['late', 'next']);
    queue.tidy(200);
    expect(ids()).toEqual(['late']);
  });

  it('looks at no waiter further back than it must', () => {
    const queue = queueOf(a, b, c, claimOf('dying', { ttlMs: 10 }), claimOf('last'));
    queue.leave(a, 50);
    expect([queue.size, told(queue)]).toEqual([4, ['b', 'c']]);
    const { waiters } = queue.describe('r', 50);
    expect(waiters.map(({ holder }) => holder.label)).toEqual(['c', 'last']);
  });
});
