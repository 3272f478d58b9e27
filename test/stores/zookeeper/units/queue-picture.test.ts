import { expect, it } from 'vitest';
import type { Details } from '../../../../src/stores/zookeeper/data.ts';
import { placeIn, uuidOf } from '../../../../src/stores/zookeeper/nodes.ts';
import { QueueView } from '../../../../src/stores/zookeeper/queue.ts';
import {
  type Change,
  type Heard,
  QueuePicture,
} from '../../../../src/stores/zookeeper/queue-picture.ts';
import type { Stat } from '../../../../src/stores/zookeeper/requests.ts';

const QUEUE: Pick<Stat, 'czxid' | 'cversion'> = { czxid: 1n, cversion: 0 };
const NOTED: Change = { type: 'changed', name: '' };

/** The node of this number, as a seat, a writer or a reader. */
function nameOf(number: number, base = 'permits-1-of-1-'): string {
  const sequence = `${number}`.padStart(10, '0');
  return `_c_${uuidOf({ id: sequence.padEnd(32, 'a') })}-${base}${sequence}`;
}

const seat = (number: number): string => nameOf(number);
const gone = (name: string): Change => ({ type: 'deleted', name });
const come = (name: string): Change => ({ type: 'created', name });

function detailsOf(number: number, session: number): Details {
  return {
    ...{ number: BigInt(number), version: 0, session: BigInt(session), ttlMs: 1, lastsMs: 1 },
    ...{ holder: { host: 'test', pid: 1, since: 0 }, admitted: false, sealed: undefined },
  };
}

/** Sessions by the numbers of nodes, the first of which is 1; 0: it could not be read. */
function pictureOf(sessions: readonly number[], name = seat): QueuePicture {
  const picture = new QueuePicture();
  const nodes = sessions.map((session, i) => {
    const place = placeIn(name(i + 1)) ?? expect.unreachable();
    const details = session === 0 ? undefined : detailsOf(i + 1, session);
    return [place.name, [place, details] as const] as const;
  });
  picture.replace(new Map(nodes), QUEUE as Stat);
  return picture;
}

/** What each change makes of it, and who holds then. */
function told(picture: QueuePicture, changes: readonly Change[], session = 9): string[] {
  const all = changes.map((change): Heard => {
    const number = placeIn(change.name)?.sequence ?? 0;
    const details = change.type === 'created' ? detailsOf(number, session) : undefined;
    return { ...change, details, stat: undefined };
  });
  return all.map((change, i) => {
    const effect = picture.apply(change, all[i + 1]);
    const { places } = picture;
    const { admitted } = new QueueView(places.map(([place]) => place));
    return `${effect} ${places.slice(0, admitted).map(([place]) => place.sequence)}`;
  });
}

it('nodes of a session go in any order, and none of them is told to hold', () => {
  const orders = [
    ...[
      [1, 2, 3],
      [1, 3, 2],
      [2, 1, 3],
    ],
    ...[
      [2, 3, 1],
      [3, 1, 2],
      [3, 2, 1],
    ],
  ];
  const all = orders.map((order) => {
    const effects = told(
      pictureOf([7, 7, 7, 8]),
      order.map((number) => gone(seat(number))),
    );
    return effects.filter((effect) => !effect.startsWith('unsure')).join(', ');
  });
  expect(all).toEqual([
    ...['changed 4', 'changed 4', 'changed 1, changed 4'],
    ...['changed 1, changed 1, changed 4', 'changed 1, changed 4'],
    'changed 1, changed 1, changed 4',
  ]);
});

it('what comes next matters where a holder goes, and then where more of its session do', () => {
  const picture = pictureOf([7, 7, 7, 8]);
  const matters = (): number[] => [1, 2, 3, 4].filter((n) => picture.mayGoOn(gone(seat(n))));
  expect(matters()).toEqual([1]);
  const heard = (n: number): Heard => ({ ...gone(seat(n)), details: undefined, stat: undefined });
  expect(picture.apply(heard(1), heard(3))).toBe('unsure');
  expect(matters()).toEqual([2, 3]);
});

it('a hold that was given up is noted, and the next one holds, of whatever session', () => {
  const changes = [gone(seat(1)), NOTED, gone(seat(2)), NOTED];
  expect(told(pictureOf([7, 7, 7]), changes)).toEqual([
    ...['changed 2', 'same 2', 'changed 3', 'same 3'],
  ]);
  // Those who wait leave without a note.
  expect(told(pictureOf([7, 7, 7]), [gone(seat(2)), gone(seat(1)), NOTED])).toEqual([
    ...['changed 1', 'changed 3', 'same 3'],
  ]);
  expect(told(pictureOf([7, 8, 7]), [gone(seat(1)), gone(seat(2))])).toEqual([
    ...['changed 2', 'changed 3'],
  ]);
});

it('a node that makes way for another has its place all the time', () => {
  expect(told(pictureOf([7, 8]), [gone(seat(1)), come(seat(1))])).toEqual(['changed 1', 'same 1']);
  const writer = (number: number): string => nameOf(number, '__WRIT__');
  const reader = nameOf(1, '__READ__');
  const picture = pictureOf([7, 8], writer);
  expect(told(picture, [gone(writer(1)), come(reader)])).toEqual(['changed 1', 'same 1']);
  expect(picture.places[0]?.[0].kind).toBe('read');
});

it('when somebody goes who was never shown, nobody knows who held', () => {
  const picture = pictureOf([7, 0, 8]);
  expect(told(picture, [gone(seat(1)), gone(seat(2)), gone(seat(3))])).toEqual([
    ...['changed 2', 'missed 3', 'changed '],
  ]);
  const known = pictureOf([0]);
  expect(known.replace(new Map(), { ...QUEUE, cversion: 1 } as Stat)).toBe(true);
  expect(pictureOf([7]).replace(new Map(), { ...QUEUE, cversion: 1 } as Stat)).toBe(false);
  expect(pictureOf([7]).replace(new Map(), { ...QUEUE, cversion: 3 } as Stat)).toBe(true);
});
