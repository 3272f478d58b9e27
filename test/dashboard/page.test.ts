/** What a page shows of rows and events, and where its address says so. */
import { describe, expect, it } from 'vitest';
import { addressIn, hashOf } from '../../src/dashboard/ui/address.ts';
import { linesOf } from '../../src/dashboard/ui/events.ts';
import { listed, type RowOrder } from '../../src/dashboard/ui/order.ts';
import { rowText } from '../../src/dashboard/ui/text.ts';
import type { Happening, QueueEvent, QueueRow, Seat } from '../../src/dashboard/wire.ts';

function seat(since: number, holds: boolean): Seat {
  return {
    ...{ token: String(since), holds, kind: 'mutex', permits: 1, host: 'api', pid: since },
    ...{ label: null, since, ttlMs: 1_000, endsAt: 1_000 },
  };
}

/** Held and waited for since these times. */
function rowOf(name: string, held: readonly number[], waiting: readonly number[] = []): QueueRow {
  const seats = [...held.map((since) => seat(since, true)), ...waiting.map((s) => seat(s, false))];
  const counts = { holding: held.length, waiting: waiting.length };
  return { name, limit: 1, election: false, ...counts, seats };
}

describe('the address', () => {
  const plain = addressIn('');

  it('says nothing of a page as it opens', () => {
    expect(hashOf(plain)).toBe('#');
    expect(plain).toEqual({ view: 'queues', search: '', kind: 'all', order: 'wait', name: null });
  });

  it.each(['stock', 'a&view=graph', '#%20+ ü', 'name=1\n'])('keeps what it has: %j', (name) => {
    const address = { view: 'graph', search: name, kind: 'mutex', order: 'name', name } as const;
    expect(addressIn(hashOf(address))).toEqual(address);
  });

  it.each(['#view=toString', '#kind=&order=none', '#?'])('knows nothing in %s', (hash) => {
    expect(addressIn(hash)).toEqual(plain);
  });
});

describe('the list', () => {
  const rows = [
    rowOf('c', [30], [40]),
    rowOf('b', [10]),
    { ...rowOf('d', [20], [5, 6, 7]), election: true },
    rowOf('a', [25], [50, 60]),
  ];

  it.each<[RowOrder, string]>([
    ['wait', 'c a b d'],
    ['hold', 'b d a c'],
    ['waiters', 'a c b d'],
    ['name', 'a b c d'],
  ])('is in the order %s', (order, names) => {
    const all = listed(rows, { search: '', kind: 'all', order });
    expect(all.map(({ name }) => name).join(' ')).toBe(names);
  });

  it('has what is searched, of the kind that is wanted', () => {
    const names = (search: string, kind: 'all' | 'election'): readonly string[] =>
      listed(rows, { search, kind, order: 'name' }).map(({ name }) => name);
    expect(names('API 1', 'all')).toEqual(['b']);
    expect(names('', 'election')).toEqual(['d']);
  });

  it('has sentences for a screen reader', () => {
    const [first, second, third] = rows.map((row) => rowText(row, 3_050));
    expect(first).toBe('c, mutex, held by api · 30 for 3 s, 1 waiting, the first for 3 s');
    expect(second).toBe('b, mutex, held by api · 10 for 3 s, 0 waiting');
    expect(third).toBe('d, election, held by api · 20 for 3 s, 3 on standby');
    expect(rowText(rowOf('e', [], [50]), 3_050)).toContain('e, mutex, not held, 1 waiting');
  });
});

describe('the timeline of all resources', () => {
  const unknown = { token: null, who: null, detail: null };
  const events = (...told: readonly (readonly [number, string, Happening])[]): QueueEvent[] =>
    told.map(([at, name, what], id) => ({ id, at, name, what, ...unknown }));
  const shown = (apart: boolean, all: readonly QueueEvent[]): readonly string[] =>
    linesOf(all, apart).map(({ at, name, before }) => `${at} ${name} +${before}`);

  const busy = events(
    [1_000, 'a', 'granted'],
    [2_000, 'b', 'granted'],
    [3_000, 'a', 'released'],
    [9_999, 'a', 'granted'],
    [10_000, 'a', 'released'],
  );

  it('has one line for what happens to one of them within some seconds', () => {
    expect(shown(false, busy)).toEqual(['10000 a +0', '9999 a +2', '2000 b +0']);
  });

  it('has a line for each event if they are wanted apart', () => {
    expect(shown(true, busy)).toHaveLength(5);
  });

  it.each(['lost', 'evicted'] as const)('has a line for each that is %s', (what) => {
    const all = events([1, 'a', 'granted'], [2, 'a', what], [3, 'a', what], [4, 'a', 'granted']);
    expect(shown(false, all)).toEqual(['4 a +1', '3 a +0', '2 a +0']);
  });
});
