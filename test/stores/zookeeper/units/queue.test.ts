import { expect, it } from 'vitest';
import type { Claim, Kind } from '../../../../src/contract/store.ts';
import { baseOf, type Place, placeIn, uuidOf } from '../../../../src/stores/zookeeper/nodes.ts';
import { QueueView } from '../../../../src/stores/zookeeper/queue.ts';

const UUID = '8d3b1c5e-7a92-4f06-8b1d-0c9e5f7a2b34';

let claims = 0;

/** A node of ours, or of Curator's. */
function place(base: string, whose: 'ours' | "Curator's" = 'ours'): Place {
  const number = `${claims++}`.padStart(10, '0');
  const uuid = whose === 'ours' ? uuidOf({ id: number.padEnd(32, 'a') }) : UUID;
  return placeIn(`_c_${uuid}-${base}${number}`) as Place;
}

const kindsIn = ({ places }: QueueView): Kind[] => places.map(({ kind }) => kind);

it('nobody gets past a claim of another kind that is about to leave', () => {
  const [first, other, last] = [place('__READ__'), place('lock-'), place('__READ__')];
  const queue = new QueueView([first, other, last]);
  expect([queue.admitted, queue.waiters]).toEqual([1, 2]);
  expect(queue.misfit('mutex')).toMatchObject({ state: 'gone', why: 'mismatch' });
  expect(queue.misfit('write')).toBeUndefined();
  // They would not be of the kind of the first any more.
  expect(new QueueView([other, last]).admitted).toBe(1);
  expect(new QueueView([first, last]).admitted).toBe(2);
});

it('a stranger among claims of another kind does not leave, so all behind it wait', () => {
  const queue = new QueueView([place('permits-1-of-9-'), place('lock-', "Curator's")]);
  expect(kindsIn(queue)).toEqual(['permits', 'mutex']);
  expect(queue.admitted).toBe(1);
  const behind = new QueueView([...queue.places, place('permits-1-of-9-')]);
  expect([behind.admitted, behind.waiters]).toEqual([1, 2]);
  const before = new QueueView([place('lock-', "Curator's"), place('lock-')]);
  expect(before.admitted).toBe(1);
});

it('whoever tries is admitted at the end of a queue in which nobody waits', () => {
  const seat = { kind: 'permits', permits: 1, limit: 2 } as Claim;
  const queueOf = (count: number): QueueView =>
    new QueueView(Array.from({ length: count }, () => place(baseOf(seat))));
  expect([0, 1, 2, 3].map((count) => queueOf(count).admits(seat))).toEqual([
    ...[true, true, false, false],
  ]);
  const reader = { kind: 'read', permits: 1, limit: 2 ** 30 } as Claim;
  expect(new QueueView([place('__READ__')]).admits(reader)).toBe(true);
  expect(new QueueView([place('__READ__'), place('__WRIT__')]).admits(reader)).toBe(false);
});

it('what is no claim has no place', () => {
  for (const name of ['lock-', 'lock-1', `_c_${UUID}-latch-0000000000`, '_c_x-lock-0000000000']) {
    expect(placeIn(name)).toBeUndefined();
  }
  expect(placeIn('lock--2147483648')).toMatchObject({ sequence: -(2 ** 31), foreign: true });
  expect(placeIn(`_c_${UUID}-lock-0000000007`)).toMatchObject({ sequence: 7, uuid: UUID });
});
