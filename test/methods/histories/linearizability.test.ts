import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../support/cases.ts';
import { shareOf } from '../../support/this-run.ts';
import { correctOperations, type Recorded } from './correct-operations.ts';
import { Courses } from './courses.ts';
import { disorderOf } from './holds.ts';
import { checkLinearizability, type Model, type Operation } from './linearizability.ts';
import { counterModel, type LockOperation, lockModel } from './models.ts';

function verdict({ lock, counter }: Recorded): string {
  const verdicts = [
    checkLinearizability(lockModel, lock).verdict,
    checkLinearizability(counterModel, counter).verdict,
  ];
  return verdicts.find((each) => each !== 'legal') ?? 'legal';
}

describe.each([0, 0.04])('%d of the operations never return', (unknown) => {
  const courses = new Courses(unknown);

  test('histories of correct locks and fences are legal', () => {
    const all = courses.all();
    for (const { where, recorded } of all) expect(verdict(recorded), where).toBe('legal');
    const operations = all.flatMap(({ recorded }) => [...recorded.lock, ...recorded.counter]);
    const never = operations.filter(({ returnedAt }) => returnedAt === undefined);
    expect(never.length > 0).toBe(unknown > 0);
    expect(operations.filter(({ output }) => output === false).length).toBeGreaterThan(20);
  });

  test.each(courses.corruptions())('%s: illegal', (_name, corrupt) =>
    courses.expectIllegal(corrupt, verdict),
  );
});

/** A register that is written and read: the smallest model in which order matters. */
const register: Model<number, 'read' | number, number> = {
  init: 0,
  step(state, { input, output }) {
    if (typeof input === 'number') return input;
    return output === undefined || output === state ? state : undefined;
  },
  key: String,
};

/** Every order of every choice of what did happen: slow, and right by definition. */
function anyOrder<S, I, O>(model: Model<S, I, O>, all: readonly Operation<I, O>[]): boolean {
  const search = (state: S, rest: readonly Operation<I, O>[]): boolean =>
    rest.every(({ returnedAt }) => returnedAt === undefined) ||
    rest.some((next) => {
      const others = rest.filter((each) => each !== next);
      const early = others.some(({ returnedAt = Infinity }) => returnedAt < next.calledAt);
      const after = early ? undefined : model.step(state, next);
      return after !== undefined && search(after, others);
    });
  return search(model.init, all);
}

const times = fc.record({
  calledAt: fc.nat(12),
  took: fc.option(fc.nat(8), { freq: 5, nil: undefined }),
  process: fc.nat(3),
});

function during<I, O>(
  { calledAt, took, process }: { calledAt: number; took: number | undefined; process: number },
  input: I,
  output: O,
): Operation<I, O> {
  if (took === undefined) return { process, calledAt, input };
  return { process, calledAt, returnedAt: calledAt + took, input, output };
}

function histories<I, O>(operation: fc.Arbitrary<[I, O]>): fc.Arbitrary<Operation<I, O>[]> {
  const one = fc.tuple(times, operation).map(([when, [input, output]]) => {
    return during(when, input, output);
  });
  return fc.array(one, { maxLength: 7 });
}

const holder = fc.constantFrom('a', 'b', 'c');
const token = fc.bigInt(1n, 5n);
const lockOperation = fc.oneof(
  fc.tuple(
    fc.record({
      verb: fc.constantFrom('acquire' as const, 'try' as const),
      holder,
      permits: fc.constantFrom(1, 1, 2),
      limit: fc.constant(2),
    }),
    fc.oneof(token, fc.boolean()),
  ),
  fc.tuple(fc.record({ verb: fc.constant('release' as const), holder }), fc.constant(true)),
);
const counterOperation = fc.tuple(
  fc.oneof(
    fc.record({ verb: fc.constant('enter' as const), token, shared: fc.boolean() }),
    fc.record({ verb: fc.constant('increment' as const), token }),
    fc.record({ verb: fc.constant('read' as const) }),
  ),
  fc.oneof(fc.nat(3), fc.nat(1), fc.constant('stale' as const)),
);
const registerOperation = fc.oneof(
  fc.tuple(fc.constant('read' as const), fc.nat(2)),
  fc.tuple(fc.nat(2), fc.constant(0)),
);

describe('agrees with trying every order', () => {
  function agree<S, I, O>(model: Model<S, I, O>, operation: fc.Arbitrary<[I, O]>): void {
    const counts = { legal: 0, illegal: 0 };
    const property = fc.property(histories(operation), (history) => {
      const expected = anyOrder(model, history) ? 'legal' : 'illegal';
      counts[expected]++;
      expect(checkLinearizability(model, history).verdict).toBe(expected);
    });
    fc.assert(property, cases(2_000));
    expect(Math.min(counts.legal, counts.illegal)).toBeGreaterThan(shareOf(200));
  }

  test('register', () => agree(register, registerOperation));
  test('lock', () => agree(lockModel, lockOperation));
  test('counter', () => agree(counterModel, counterOperation));
});

describe('holds that processes believed in', () => {
  const hold = (token: bigint, [requestedAt, grantedAt, endedAt]: [number, number, number]) => {
    const lock = { resource: 'r', permits: 1, limit: 1, process: Number(token) };
    return { ...lock, token, requestedAt, grantedAt, endedAt };
  };
  const first = hold(1n, [0, 10, 20]);

  test('in turn, also where one touches the next', () => {
    expect(disorderOf([hold(2n, [5, 20, 30]), first])).toEqual([]);
  });

  test('at once where that is allowed, whichever is told first', () => {
    const shared = [first, hold(2n, [5, 15, 30])].map((each) => ({ ...each, limit: 2 }));
    expect(disorderOf(shared)).toEqual([]);
    expect(disorderOf(shared.toReversed())).toEqual([]);
  });

  test.each([
    ['two at once', hold(2n, [5, 19, 30])],
    ['a token used twice', hold(1n, [25, 26, 30])],
    ['a token that does not grow', hold(0n, [25, 26, 30])],
    ['a grant before the request', hold(2n, [26, 25, 30])],
  ])('%s', (_name, second) => expect(disorderOf([first, second])).toHaveLength(1));
});

describe('says what is wrong', () => {
  const acquire = (holder: string, calledAt: number, output: bigint): LockOperation => ({
    ...{ resource: 'r', process: holder, calledAt, returnedAt: calledAt + 1 },
    ...{ input: { verb: 'acquire', holder, permits: 1, limit: 1 }, output },
  });
  const release = (holder: string, calledAt: number): LockOperation => ({
    ...{ resource: 'r', process: holder, calledAt, returnedAt: calledAt + 1 },
    input: { verb: 'release', holder },
  });

  test('the longest beginning that is right, and what cannot follow', () => {
    const right = [acquire('a', 0, 1n), release('a', 2), acquire('b', 4, 2n)];
    const wrong = acquire('c', 6, 3n);
    const elsewhere = right.map((each) => ({ ...each, resource: 's' }));
    const history = [...elsewhere, wrong, ...right, release('b', 8), release('c', 10)];
    const { verdict: found, disorders } = checkLinearizability(lockModel, history);
    expect(found).toBe('illegal');
    expect(disorders).toHaveLength(1);
    expect(disorders[0]).toMatchObject({ resource: 'r', placed: right, unplaced: [wrong] });
    expect(disorders[0]?.message.split('\n')).toEqual([
      'r: illegal: of 6 operations 3 could be put in order, the last of them',
      "  { verb: 'acquire', holder: 'a', permits: 1, limit: 1 } → 1n of a (0 to 1)",
      "  { verb: 'release', holder: 'a' } → undefined of a (2 to 3)",
      "  { verb: 'acquire', holder: 'b', permits: 1, limit: 1 } → 2n of b (4 to 5)",
      "which leads to { holds: [ { holder: 'b', permits: 1, limit: 1 } ], token: 2n }; " +
        'then none of',
      "  { verb: 'acquire', holder: 'c', permits: 1, limit: 1 } → 3n of c (6 to 7)",
    ]);
  });

  test('nothing, if there is nothing', () => {
    expect(checkLinearizability(lockModel, [])).toMatchObject({ verdict: 'legal', disorders: [] });
  });

  test('times that are none', () => {
    for (const times of [{ calledAt: Number.NaN }, { calledAt: 2, returnedAt: 1 }]) {
      const history = [{ ...acquire('a', 0, 1n), ...times }];
      expect(checkLinearizability(lockModel, history).disorders).toMatchObject([
        { verdict: 'illegal', unplaced: history },
      ]);
    }
  });

  test('that it gave up, when there are too many orders', () => {
    const writes = Array.from({ length: 16 }, (_, i) => {
      return { calledAt: 0, returnedAt: 10, input: i, output: 0 };
    });
    const read = { calledAt: 11, returnedAt: 12, input: 'read', output: 99 } as const;
    const history: Operation<'read' | number, number>[] = [...writes, read];
    const { verdict: found, disorders } = checkLinearizability(register, history, { budget: 500 });
    expect(found).toBe('unknown');
    expect(disorders).toMatchObject([{ verdict: 'unknown', placed: { length: 16 } }]);
  });
});

test('a hundred thousand operations, or a share of them, take hardly more positions', () => {
  const operations = shareOf(100_000);
  const course = { seed: 1, kind: 'rw', unknown: 0.001, operations } as const;
  const { lock } = correctOperations(course);
  const { verdict: found, positions } = checkLinearizability(lockModel, lock);
  expect(found).toBe('legal');
  expect(positions).toBeLessThan(1.5 * lock.length);
});
