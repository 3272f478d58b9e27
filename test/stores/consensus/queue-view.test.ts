import { expect, it } from 'vitest';
import { type Claim, type Kind, MAX_PERMITS } from '../../../src/contract/store.ts';
import { type QueuePlace, QueueView } from '../../../src/stores/consensus/queue-view.ts';

let claims = 0;

function place(kind: Kind, { foreign = false, limit = MAX_PERMITS } = {}): QueuePlace {
  const permits = kind === 'mutex' || kind === 'write' ? limit : 1;
  return { id: `${claims++}`, kind, permits, limit, foreign, admitted: false };
}

const seat = (): QueuePlace => place('permits', { limit: 2 });

it('nobody gets past a claim of another kind that is about to leave', () => {
  const [first, other, last] = [place('read'), place('mutex'), place('read')];
  const queue = new QueueView([first, other, last]);
  expect([queue.admitted, queue.waiters]).toEqual([1, 2]);
  expect(queue.misfit('mutex')).toMatchObject({ state: 'gone', why: 'mismatch' });
  expect(queue.misfit('write')).toBeUndefined();
  // They would not be of the kind of the first any more.
  expect(new QueueView([other, last]).admitted).toBe(1);
  expect(new QueueView([first, last]).admitted).toBe(2);
});

it('a stranger among claims of another kind does not leave, so all behind it wait', () => {
  const queue = new QueueView([seat(), place('mutex', { foreign: true })]);
  expect(queue.admitted).toBe(1);
  const behind = new QueueView([...queue.places, seat()]);
  expect([behind.admitted, behind.waiters]).toEqual([1, 2]);
  expect(new QueueView([place('mutex', { foreign: true }), place('mutex')]).admitted).toBe(1);
});

it('whoever tries is admitted at the end of a queue in which nobody waits', () => {
  const claim = { kind: 'permits', permits: 1, limit: 2 } as Claim;
  const queueOf = (count: number): QueueView => new QueueView(Array.from({ length: count }, seat));
  expect([0, 1, 2, 3].map((count) => queueOf(count).admits(claim))).toEqual([
    ...[true, true, false, false],
  ]);
  const reader = { kind: 'read', permits: 1, limit: MAX_PERMITS } as Claim;
  expect(new QueueView([place('read')]).admits(reader)).toBe(true);
  expect(new QueueView([place('read'), place('write')]).admits(reader)).toBe(false);
  expect(new QueueView([place('permits')]).admits(reader)).toBe(false);
});

it('finds claims in short and in long queues', () => {
  for (const length of [3, 30]) {
    const places = Array.from({ length }, () => place('mutex'));
    const queue = new QueueView(places);
    expect(places.map(({ id = '' }) => queue.find(id))).toEqual([...places.keys()]);
    expect([queue.find('no such'), queue.at('no such')]).toEqual([-1, undefined]);
    expect(places.map(({ id = '' }) => queue.holds(id)).indexOf(false)).toBe(1);
  }
});

it('knows the oldest of a queue, and how many there are', () => {
  const queue = new QueueView([place('mutex'), place('mutex')], { total: 9 });
  expect([queue.admitted, queue.waiters]).toEqual([1, 8]);
});

it('knows which claims keep a waiter waiting, the fewest that do', () => {
  const [first, second] = [place('mutex'), place('mutex')];
  const mutexes = new QueueView([first, second, place('mutex')]);
  expect(mutexes.barring(first)).toEqual([]);
  expect(mutexes.barring(mutexes.places[2]!)).toEqual([first]);
  const seats = [seat(), seat(), seat()] as const;
  expect(new QueueView(seats).barring(seats[2])).toEqual([seats[0], seats[1]]);
  const [writer, reader] = [place('write'), place('read')];
  const readers = Array.from({ length: 9 }, () => place('read'));
  expect(new QueueView([...readers, writer, reader]).barring(reader)).toEqual([writer]);
  // It waits for one of another kind to leave, which is not a matter of permits.
  const odd = new QueueView([place('read'), place('permits'), reader]);
  expect([odd.admitted, odd.barring(reader)]).toEqual([1, []]);
});

it('tells the limit in force to whom it is another’s', () => {
  const queue = new QueueView([place('permits', { limit: 3 }), place('permits', { limit: 5 })]);
  expect([queue.limitFor(3), queue.limitFor(5)]).toEqual([undefined, 3]);
});
