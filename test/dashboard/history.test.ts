/** What two looks at a store say, and what they cannot. */
import { describe, expect, it } from 'vitest';
import type { Member, Queue } from '../../src/contract/store.ts';
import { Board } from '../../src/dashboard/board.ts';
import { History } from '../../src/dashboard/history.ts';

function member(number: bigint, leftMs = 10_000): Member {
  const holder = { host: 'api', pid: Number(number), since: 0 };
  return { number, kind: 'mutex', permits: 1, ttlMs: 10_000, leftMs, holder };
}

type Look = readonly [holders: readonly Member[], waiters: readonly Member[]];

/** The lines that these looks, one a second, conclude. */
function conclude(...looks: readonly Look[]): readonly string[] {
  const [board, history] = [new Board(), new History()];
  looks.forEach(([holders, waiters], n) => {
    const queue: Queue = { resource: 'a', limit: 1, holders, waiters };
    const queues = new Map(holders.length + waiters.length > 0 ? [['a', queue]] : []);
    const change = board.take(queues, n * 1_000);
    if (n > 0) history.conclude(change, (name) => board.row(name), n * 1_000);
  });
  return history
    .since(0)
    .map(({ what, token, detail }) => [what, token, detail].filter(Boolean).join(' '));
}

describe('two looks', () => {
  it('tell a hand-off by the token', () => {
    const lines = conclude([[member(1n)], [member(2n)]], [[member(2n)], []]);
    expect(lines).toEqual(['handed on 2 after api · 1']);
  });

  it('tell who came and who gave up', () => {
    expect(conclude([[], []], [[member(1n)], [member(2n)]], [[member(1n)], []])).toEqual([
      ...['granted 1', 'waits 2', 'left 2'],
    ]);
  });

  it('do not know why a holder is gone, but whether its time may have run out', () => {
    expect(conclude([[member(1n)], []], [[], []])).toEqual(['gone 1']);
    expect(conclude([[member(1n, 1_500)], []], [[], []])).toEqual([
      'gone 1 its time may have run out',
    ]);
  });

  it('tell nothing of a heartbeat', () => {
    expect(conclude([[member(1n, 7_000)], []], [[member(1n, 9_900)], []])).toEqual([]);
  });
});

describe('a board', () => {
  const take = (board: Board, leftMs: number, now: number) =>
    board.take(
      new Map([['a', { resource: 'a', holders: [member(1n, leftMs)], waiters: [] }]]),
      now,
    );

  it('takes small errors for none, and adds none up', () => {
    const board = new Board();
    take(board, 10_000, 0);
    const ends = Array.from({ length: 9 }, (_, n) => take(board, 10_000 + 100 * (n % 3), 0).beaten);
    expect(ends.flat()).toEqual([]);
    expect(take(board, 10_300, 0).beaten).toEqual(['a']);
    expect(take(board, 10_300, 500).beaten).toEqual(['a']);
  });
});

describe('the figures of the last minute', () => {
  it('count every grant, however many there are', () => {
    const history = new History();
    for (let at = 0; at < 120_000; at += 10) history.count('grant', at);
    expect(history.rates(119_999).grants).toBe(6_000);
    expect(history.rates(150_000).grants).toBe(2_900);
    expect(history.rates(179_000).grants).toBe(0);
  });

  it('have the waits of those, too, whose grants were told by events', () => {
    const [board, history] = [new Board(), new History()];
    const look = (holder: bigint, waiters: readonly Member[]) =>
      board.take(
        new Map([['a', { resource: 'a', holders: [member(holder)], waiters }]]),
        Number(holder) * 1_000,
      );
    look(1n, [member(2n)]);
    const told = { at: 1_500, name: 'a', token: '2', who: null, detail: null } as const;
    history.tell({ ...told, what: 'granted', from: 'locks' }, '2');
    history.conclude(look(2n, []), (name) => board.row(name), 2_000);
    expect(history.next).toBe(1);
    expect(history.rates(2_000)).toMatchObject({ grants: 0, waitMs: 2_000 });
  });
});

it('a history keeps the newest lines, and numbers them for ever', () => {
  const history = new History();
  for (let n = 0; n < 10_000; n += 1) {
    const told = { at: n, name: `a${n}`, token: null, who: null, detail: null } as const;
    history.tell({ ...told, what: 'missed', from: 'locks' }, null);
  }
  expect(history.next).toBe(10_000);
  expect(history.since(9_990).map(({ name }) => name)).toHaveLength(10);
  expect(history.since(0).length).toBeLessThanOrEqual(2_200);
  expect(history.since(10_000)).toEqual([]);
});
