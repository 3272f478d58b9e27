/** Which waits are stuck, against an oracle that tries all ways in which waits may end. */
import fc from 'fast-check';
import type { PublishedWait } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { MAX_PERMITS } from '../../../src/contract/store.ts';
import { knotOf, stuckOf, victimOf } from '../../../src/operators/deadlocks/graph.ts';
import { keyOf, knotBefore } from '../../../src/operators/deadlocks/knots.ts';
import type { WaitNote } from '../../../src/operators/deadlocks/notes.ts';
import { cases } from '../../support/cases.ts';
import { idsOf, neverEnding } from './oracle.ts';

type Hold = PublishedWait['holds'][number];

function hold(resource: string, token: number, permits = 1): Hold {
  return { resource, token: BigInt(token), permits };
}

function wait(id: string, parts: Partial<PublishedWait>): PublishedWait {
  const holder = { host: 'h', pid: 1, since: 0 };
  const own = { id, resource: 'a', permits: 1, limit: 1, holder, holds: [] };
  return { ...own, kind: 'permits', onDeadlock: 'reject', ...parts };
}

const NAMES = ['a', 'b', 'c'];

/** Up to six waits of up to four tasks; a task may wait twice, and hold the same. */
const crowds: fc.Arbitrary<PublishedWait[]> = fc
  .array(
    fc.record({
      holds: fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.integer({ min: 1, max: 2 })), {
        maxLength: 3,
      }),
      waits: fc.array(
        fc.record({
          resource: fc.constantFrom(...NAMES),
          permits: fc.integer({ min: 1, max: 2 }),
          limit: fc.integer({ min: 2, max: 3 }),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((tasks) =>
    tasks.flatMap(({ holds, waits }, task) => {
      const held = holds.map(([name, permits], i) => hold(name, 10 * task + i, permits));
      return waits.map((each, i) => wait(`${task}${i}`, { ...each, holds: held }));
    }),
  );

describe('of random waits', () => {
  it('stuck are those that end in no future', () => {
    let stuck = 0;
    const check = (waits: PublishedWait[]): void => {
      const found = stuckOf(waits);
      expect(idsOf(found)).toEqual(idsOf(neverEnding(waits)));
      stuck += found.length;
    };
    fc.assert(fc.property(crowds, check), cases(400));
    expect(stuck).toBeGreaterThan(0);
  });

  it('a knot is stuck without all others, the same for each in it, and there if any is', () => {
    const check = (waits: PublishedWait[]): void => {
      const stuck = stuckOf(waits);
      const knots = stuck.map(({ id }) => knotOf(stuck, id));
      expect(knots.some((knot) => knot !== undefined)).toBe(stuck.length > 0);
      stuck.forEach((own, i) => {
        const knot = knots[i];
        if (!knot) return;
        expect(knot[0]).toBe(own);
        expect(idsOf(neverEnding(knot))).toEqual(idsOf(knot));
        for (const { id } of knot) expect(idsOf(knotOf(stuck, id))).toEqual(idsOf(knot));
      });
    };
    fc.assert(fc.property(crowds, check), cases(400));
  });
});

describe('a knot', () => {
  const ring = [
    wait('p', { resource: 'x', holds: [hold('s', 1), hold('y', 2)] }),
    wait('q', { resource: 'y', holds: [hold('x', 3)] }),
  ];

  it('is none while it is stuck by what another one holds', () => {
    const behind = [
      wait('a', { resource: 'm', holds: [hold('s', 4)] }),
      wait('b', { resource: 's', limit: 2, holds: [hold('m', 5)] }),
    ];
    const stuck = stuckOf([...ring, ...behind]);
    expect(idsOf(stuck)).toEqual(['a', 'b', 'p', 'q']);
    const knots = stuck.map(({ id }) => idsOf(knotOf(stuck, id))?.join());
    expect(knots).toEqual(['p,q', 'p,q', undefined, undefined]);
    expect(stuckOf(behind)).toEqual([]);
  });

  it('of one is a task that waits for what it holds', () => {
    const own = wait('a', { holds: [hold('a', 1)] });
    expect(knotOf(stuckOf([own]), 'a')).toEqual([own]);
  });

  it('has the youngest of those that reject as its victim, and of equals one', () => {
    const at = (since: number) => ({ host: 'h', pid: 1, since });
    const told = wait('told', { holder: at(3), onDeadlock: 'event' });
    const all = [told, wait('a', { holder: at(1) }), wait('c', { holder: at(2) })];
    const equal = wait('b', { holder: at(2) });
    expect([victimOf([...all, equal])?.id, victimOf([equal, ...all])?.id]).toEqual(['c', 'c']);
    expect(victimOf([told])).toBeUndefined();
  });
});

describe('a lock that does not come free', () => {
  const waits = [
    wait('x', { resource: 'x', holds: [hold('y', 1)] }),
    wait('y', { resource: 'y', holds: [hold('x', 2)] }),
  ];
  const confirmed = { turn: 1, sum: 1, knot: keyOf(waits), told: true };
  const noteOf = (of: PublishedWait): WaitNote => ({ ...of, ...confirmed });
  const knotsAt = (resource: string, limit: number, ...more: PublishedWait[]): number =>
    knotBefore([...waits, ...more].map(noteOf), { resource, limit }).length;

  it('is one in a confirmed deadlock, or behind it', () => {
    expect(knotsAt('x', 1)).toBe(2);
    expect(knotsAt('z', 1, wait('behind', { resource: 'x', holds: [hold('z', 3)] }))).toBe(2);
    const unconfirmed = waits.map((of) => ({ ...noteOf(of), knot: '' }));
    expect(knotBefore(unconfirmed, { resource: 'x', limit: 1 })).toEqual([]);
  });

  it('is none of which a permit may come free, nor one whose holder does not wait for it', () => {
    expect(knotsAt('x', 5)).toBe(0);
    const free = wait('free', { resource: 's', limit: 3, holds: [hold('z', 3)] });
    expect(knotsAt('z', 1, free, wait('beside', { resource: 'x', holds: [hold('s', 4)] }))).toBe(0);
  });

  it('is one for who writes, where a reader is in it', () => {
    expect(knotsAt('x', MAX_PERMITS)).toBe(2);
  });
});
