import { ClaimQueue } from 'holdfast/store';
import { describe, expect, it } from 'vitest';
import { Chance } from '../methods/simulation/chance.ts';
import { AGAIN, RUN, seedsOf, shareOf } from '../support/this-run.ts';
import { Course } from './course.ts';

const again = (queue: ClaimQueue): ClaimQueue => ClaimQueue.from(copyOf(queue));
const copyOf = (queue: ClaimQueue): unknown => JSON.parse(JSON.stringify(queue));
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each));

describe('a queue as JSON', () => {
  it('goes on as the queue that it was, whenever it is written and read', () => {
    for (const seed of seedsOf(300)) {
      const [kept, written] = [new Course(seed), new Course(seed)];
      let [left, right] = [new ClaimQueue(), new ClaimQueue()];
      for (let step = 0; step < 40; step++) {
        const where = `seed ${seed}, step ${step}, ${AGAIN}`;
        expect(textOf(written.step(right)), where).toBe(textOf(kept.step(left)));
        right = again(right);
        expect(textOf(right), where).toBe(textOf(left));
        if (step % 13 === 12) left = again(left);
      }
    }
  });

  it('is refused unless it is whole', () => {
    const chance = new Chance(RUN);
    let refused = 0;
    for (const seed of seedsOf(300)) {
      const queue = new ClaimQueue();
      const course = new Course(seed);
      for (let step = 0; step < 20; step++) course.step(queue);
      const damaged = copyOf(queue);
      damage(damaged, chance);
      try {
        // What is read is a queue, whatever it says.
        course.step(ClaimQueue.from(damaged));
      } catch (error) {
        expect(error, `seed ${seed}, ${AGAIN}`).toMatchObject({
          code: 'STORE',
          retryable: false,
          outcome: 'failed',
        });
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(shareOf(150));
  });

  it.each([null, 'text', 7, [], {}, { last: 1 }, { last: '1', greatest: '1' }])(
    'is refused: %j',
    (value) => {
      expect(() => ClaimQueue.from(value)).toThrow('The text is not a queue of claims.');
    },
  );

  it('keeps what only some queues have', () => {
    const queue = new ClaimQueue({ closedUntil: 9 });
    const holder = { host: 'h', pid: 1, since: 2, label: 'l', mark: 'm' };
    const terms = { kind: 'mutex', permits: 1, limit: 1, ttlMs: 50, queue: true } as const;
    const claim = { ...terms, resource: 'r', id: 'a', holder };
    queue.enter(claim, 0, { number: 1n, maxWaiters: 9, trusts: true });
    queue.enter({ ...claim, id: 'b' }, 0, { number: 1n, maxWaiters: 9 });
    const read = again(queue).toJSON();
    expect(read).toEqual(queue.toJSON());
    expect(read).toMatchObject({
      closedUntil: 9,
      claims: [{ trusts: true, holder }, { trusts: undefined }],
      tombstones: undefined,
    });
    expect(new ClaimQueue({ closedUntil: 0 }).toJSON().closedUntil).toBe(undefined);
  });

  it.each([
    ['last', 7],
    ['last', 'x7'],
    ['last', '7x'],
    ['closedUntil', '7'],
    ['closedUntil', Number.NaN],
    ['claims', [7]],
    ['claims', [[]]],
    ['tombstones', ['text']],
    ['record', { text: 7, until: 7 }],
    ['record', { text: 'x', until: true }],
  ])('is refused with a wrong part: %s is %j', (part, value) => {
    const whole = new ClaimQueue().toJSON();
    expect(ClaimQueue.from(whole).isBlank).toBe(true);
    expect(() => ClaimQueue.from({ ...whole, [part]: value })).toThrow('not a queue');
  });

  it.each([0, -1, 1.5, '1', true])('is refused with a claim for %j permits', (permits) => {
    const queue = new ClaimQueue();
    new Course(1).enter(queue);
    const json = queue.toJSON();
    const claims = json.claims.map((claim) => ({ ...claim, permits }));
    expect(() => ClaimQueue.from({ ...json, claims })).toThrow('not a queue');
  });

  it('is refused if an id is in it twice', () => {
    const queue = new ClaimQueue();
    new Course(1).enter(queue);
    const json = queue.toJSON();
    expect(ClaimQueue.from(json).size).toBe(1);
    const twice = { ...json, claims: [...json.claims, ...json.claims] };
    expect(() => ClaimQueue.from(twice)).toThrow('not a queue');
  });
});

const JUNK = [null, -1, 'x', [], {}, true, 1.5];

/** Puts something else in the place of one value, anywhere. */
function damage(value: unknown, chance: Chance): void {
  let parts = value as Record<string, unknown>;
  for (;;) {
    const name = chance.one(Object.keys(parts));
    const part = parts[name ?? ''];
    const deeper = typeof part === 'object' && part !== null && Object.keys(part).length > 0;
    if (deeper && chance.share(0.8)) {
      parts = part as Record<string, unknown>;
      continue;
    }
    if (name !== undefined) parts[name] = chance.one(JUNK);
    return;
  }
}
