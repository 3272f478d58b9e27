import type { Kind } from 'holdfast';
import { type Claim, ClaimQueue } from 'holdfast/store';
import { describe, expect, it } from 'vitest';
import { look, refusals } from '../../src/queue/all-or-none.ts';
import { Chance } from '../methods/simulation/chance.ts';
import { AGAIN, seedsOf } from '../support/this-run.ts';
import { Course } from './course.ts';

const TERMS = { number: 1n, maxWaiters: 4 };
const KINDS: readonly Kind[] = ['mutex', 'read', 'write', 'permits'];

function copyOf(queue: ClaimQueue): ClaimQueue {
  return ClaimQueue.from(JSON.parse(JSON.stringify(queue)));
}

/** A new one, or a copy of one that may be there. */
function tryOf(chance: Chance): Claim {
  const holder = { host: 'h', pid: 1, since: 0 };
  return {
    ...{ resource: 'r', id: chance.one(['new', '0', '3', '9']), ttlMs: 100, queue: false, holder },
    kind: chance.one(KINDS),
    ...{ permits: chance.between(1, 3), limit: chance.between(3, 4) },
  };
}

describe('a look at a queue', () => {
  it('says what a try would be told, and changes nothing that it would see', () => {
    for (const seed of seedsOf(300)) {
      const [course, chance] = [new Course(seed), new Chance(seed)];
      const queue = new ClaimQueue({ closedUntil: chance.one([undefined, 200]) });
      for (let step = 0; step < 40; step++) {
        course.step(queue);
        const { now } = course;
        const tried = tryOf(chance);
        const [looked, plain] = [copyOf(queue), copyOf(queue)];
        const found = look(tried, looked, { now });
        const told = plain.enter(tried, now, TERMS);
        const world = `seed ${seed}, step ${step}, ${AGAIN}`;
        if (found) expect(told, world).toEqual(found);
        else expect(told.state, world).toBe('held');
        expect(looked.enter(tried, now, TERMS), world).toEqual(told);
      }
    }
  });

  it('lets one that trusts in while the queue is closed', () => {
    const queue = new ClaimQueue({ closedUntil: 100 });
    const tried = { ...tryOf(new Chance(1)), id: 'new', permits: 1 };
    expect(look(tried, queue, { now: 0 })).toMatchObject({ why: 'refused', quarantineMs: 100 });
    expect(look(tried, queue, { now: 0, trusts: true })).toBeUndefined();
    expect(look(tried, queue, { now: 100 })).toBeUndefined();
  });
});

it('of several, one that does not hold refuses all but those that are there', () => {
  const held = { state: 'held', token: 1n, leftMs: 1, waiters: 0 } as const;
  const gone = { state: 'gone', why: 'unknown' } as const;
  expect(refusals([undefined, held, undefined])).toBeUndefined();
  const refused = { state: 'gone', why: 'refused' };
  expect(refusals([undefined, held, gone])).toEqual([refused, held, gone]);
});
