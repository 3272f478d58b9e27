/** What a reader makes of the notes of one wait, of which it may have read half before a change. */
import { expect, it } from 'vitest';
import { joined, type WaitNote } from '../../../src/operators/deadlocks/notes.ts';

/** About holds with one permit each, one for each letter. */
function note(turn: number, held: string, parts: Partial<WaitNote> = {}): WaitNote {
  const holds = [...held].map((resource) => ({ resource, token: 1n, permits: 1 }));
  return {
    ...{ id: 'w', resource: 'wanted', kind: 'mutex', permits: 1, limit: 1, onDeadlock: 'event' },
    ...{ holder: { host: 'h', pid: 1, since: 0 }, holds, turn, sum: 2, knot: '', told: false },
    ...parts,
  };
}

/** The one wait, of which notes come in either order. */
function read(...notes: WaitNote[]): unknown[] {
  return [notes, notes.toReversed()].map((each) => {
    const [wait, ...others] = joined(each);
    expect(others).toEqual([]);
    const held = wait?.holds.map(({ resource }) => resource).sort();
    return { turn: wait?.turn, knot: wait?.knot, told: wait?.told, held: held?.join('') };
  });
}

it('its last turn counts', () => {
  const last = { turn: 2, knot: 'k', told: true, held: 'ab' };
  const confirmed = note(2, 'ab', { knot: 'k', told: true });
  expect(read(note(1, 'ab'), confirmed)).toEqual([last, last]);
});

it('of a change read half, the last turn has the holds of both, if they are the same', () => {
  const whole = { turn: 2, knot: 'k', told: false, held: 'ab' };
  expect(read(note(1, 'a'), note(2, 'b', { knot: 'k' }))).toEqual([whole, whole]);
});

it('a hold that ended, or became smaller, before the last turn does not count', () => {
  const half = { turn: 2, knot: 'k', told: false, held: 'b' };
  expect(read(note(1, 'a'), note(2, 'b', { knot: 'k', sum: 1 }))).toEqual([half, half]);
});

it('each wait is another', () => {
  expect(joined([note(1, 'a'), note(1, 'a', { id: 'v' })])).toHaveLength(2);
});
