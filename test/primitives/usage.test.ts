import fc from 'fast-check';
import {
  type AcquireOptions,
  allOf,
  closeOnSignal,
  createLocks,
  type Duration,
  downgrade,
  evict,
  isLockError,
  type Locks,
  list,
  parseDuration,
  type Store,
} from 'holdfast';
import { createElection } from 'holdfast/election';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { cases } from '../support/cases.ts';
import { setUp } from '../support/scripted-store.ts';

/** Values that a program in JavaScript may pass by mistake. */
const HOSTILE = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
  }),
  fc.constantFrom<unknown>(
    ...[Number.NaN, -0, -1, 0.5, 2 ** 31, 2 ** 53, Number.POSITIVE_INFINITY, Symbol('s'), 0n, -5n],
    ...['', ' ', '5', '5 s', '-5s', '1e3s', '5S', '٥s', 'Infinity', '99999d', '\ud800', '\0'],
    ...[null, [], {}, () => 1, new Date(Number.NaN), Object.create(null), 'x'.repeat(2_000)],
  ),
);

/** Each says what a single argument or option can be replaced by. */
const CALLS: Record<string, (locks: Locks, value: never, store: Store) => unknown> = {
  'createLocks store': (_, value) => createLocks(value),
  'createLocks options': (_, value, store) => createLocks(store, value),
  'prefix option': (_, prefix, store) => createLocks(store, { prefix }),
  'label option': (_, label, store) => createLocks(store, { label }),
  'ttl option': (_, ttl, store) => createLocks(store, { ttl }),
  'wait option': (_, wait, store) => createLocks(store, { wait }),
  'maxTtl option': (_, maxTtl, store) => createLocks(store, { maxTtl }),
  'drift option': (_, drift, store) => createLocks(store, { drift }),
  'clock option': (_, clock, store) => createLocks(store, { clock }),
  'mutex name': (locks, name) => locks.mutex(name),
  'mutex options': (locks, options) => locks.mutex('a', options),
  'mutex ttl': (locks, ttl) => locks.mutex('a', { ttl }),
  'mutex fair': (locks, fair) => locks.mutex('a', { fair }),
  'mutex reentrant': (locks, reentrant) => locks.mutex('a', { reentrant }),
  'mutex heartbeat': (locks, heartbeat) => locks.mutex('a', { heartbeat }),
  'mutex minHold': (locks, minHold) => locks.mutex('a', { minHold }),
  'mutex maxHold': (locks, maxHold) => locks.mutex('a', { maxHold }),
  'semaphore options': (locks, options) => locks.semaphore('a', options),
  'semaphore limit': (locks, limit) => locks.semaphore('a', { limit }),
  'rwLock name': (locks, name) => locks.rwLock(name),
  'rwLock options': (locks, options) => locks.rwLock('a', options),
  'election name': (locks, name) => createElection(locks, name),
  'election seats': (locks, seats) => createElection(locks, 'a', { seats }),
  'all locks': (_, parts) => allOf(parts),
  'all element': (locks, part) => allOf([locks.mutex('a'), part]),
  'inspect name': (locks, name) => locks.inspect(name),
  'list prefix': (locks, prefix) => list(locks, prefix),
  'evict name': (locks, name) => evict(locks, name, { token: 1n, reason: 'test' }),
  'evict options': (locks, options) => evict(locks, 'a', options),
  'evict token': (locks, token) => evict(locks, 'a', { token, reason: 'test' }),
  'evict reason': (locks, reason) => evict(locks, 'a', { token: 1n, reason }),
  'evict now': (locks, now) => evict(locks, 'a', { token: 1n, reason: 'test', now }),
  'on name': (locks, name) => locks.on(name, () => {}),
  'on listener': (locks, listener) => locks.on('lost', listener),
  'campaign options': (locks, options) => createElection(locks, 'e').campaign(options),
  'campaign signal': (locks, signal) => createElection(locks, 'e').campaign({ signal }),
  'observe options': (locks, options) => createElection(locks, 'e').observe(options),
  'observe every': (locks, every) => createElection(locks, 'e').observe({ every }),
  'close options': (locks, options) => locks.close(options),
  'close drain': (locks, drain) => locks.close({ drain }),
  'acquire options': (locks, options) => locks.mutex('a').acquire(options),
  'tryAcquire options': (locks, options) => locks.mutex('a').tryAcquire(options),
  'run options': (locks, options) => locks.mutex('a').run(options, () => 1),
  'run work': (locks, work) => locks.mutex('a').run({}, work),
  'tryRun options': (locks, options) => locks.mutex('a').tryRun(options, () => 1),
  'tryRun work': (locks, work) => locks.mutex('a').tryRun({}, work),
  'run of all options': (locks, options) => allOf([locks.mutex('a')]).run(options, () => 1),
  parseDuration: (_, value) => parseDuration(value),
};

const ACQUISITIONS: readonly (keyof AcquireOptions)[] = ['wait', 'signal', 'permits', 'label'];

for (const option of ACQUISITIONS) {
  CALLS[`acquire ${option}`] = (locks, value) =>
    locks.semaphore('a', { limit: 3 }).acquire({ [option]: value });
  CALLS[`tryRun ${option}`] = (locks, value) =>
    allOf([locks.mutex('a')]).tryRun({ [option]: value }, () => 1);
}

interface Outcome {
  thrown?: unknown;
  rejected?: unknown;
}

function attempt(call: () => unknown): Outcome {
  const outcome: Outcome = {};
  try {
    const result = call();
    if (result instanceof Promise) result.catch((error) => (outcome.rejected = error));
  } catch (thrown) {
    outcome.thrown = thrown;
  }
  return outcome;
}

function usage(error: unknown): boolean {
  return isLockError(error, 'USAGE');
}

describe('bad input', () => {
  for (const [what, call] of Object.entries(CALLS)) {
    it(`is a UsageError at once, and nothing is sent: ${what}`, async () => {
      await fc.assert(
        fc.asyncProperty(HOSTILE, async (value) => {
          const { clock, store, locks } = setUp();
          const outcome = attempt(() => call(locks, value as never, store));
          await clock.advance(0);
          if ('thrown' in outcome) {
            expect(usage(outcome.thrown), String((outcome.thrown as Error)?.stack)).toBe(true);
            expect(store.calls).toHaveLength(0);
          } else if ('rejected' in outcome) {
            const { rejected } = outcome;
            expect(isLockError(rejected) && !usage(rejected), String(rejected)).toBe(true);
          }
        }),
        cases(100),
      );
    });
  }

  it('of the plain kinds is refused', () => {
    const { locks, store } = setUp();
    const mutex = locks.mutex('a');
    const semaphore = locks.semaphore('s', { limit: 3 });
    const bad: (() => unknown)[] = [
      ...['', 5, null, undefined, 'x'.repeat(513), 'ü'.repeat(257), '\udc00a'].map(
        (name) => () => locks.mutex(name as string),
      ),
      ...[0, 99, 30_001, '31s', '5 minutes', Number.NaN, '', null].map(
        (ttl) => () => locks.mutex('a', { ttl: ttl as number }),
      ),
      ...[0, -1, 1.5, 2 ** 30 + 1, '3', undefined].map(
        (limit) => () => locks.semaphore('s', { limit: limit as number }),
      ),
      ...[0, 4, 1.5, -1, '1'].map((permits) => () => semaphore.acquire({ permits: permits as 1 })),
      () => mutex.acquire({ permits: 2 }),
      () => allOf([mutex, semaphore]).acquire({ permits: 1 }),
      () => mutex.acquire({ wait: '5 sec' as '5s' }),
      () => mutex.acquire({ wiat: '5s' } as AcquireOptions),
      () => mutex.acquire([] as AcquireOptions),
      () => mutex.run({} as never),
      () => locks.mutex('a', { tll: 5 } as never),
      () => locks.mutex('a', { minHold: '31s' }),
      () => locks.mutex('a', { minHold: null as never }),
      () => locks.mutex('a', { minHold: '5s', maxHold: '4s' }),
      () => locks.mutex('a', { maxHold: 0 }),
      () => allOf([]),
      () => allOf([mutex, locks.mutex('a', { fair: true })]),
      () => allOf([mutex, setUp().locks.mutex('b')]),
      () => createElection(locks, 'e').campaign({ wait: '5s' } as never),
      () => createElection(locks, 'e').observe({ every: 0 }),
      () => evict(locks, 'a', { token: 5 as never, reason: 'test' }),
      () => locks.on('losst' as never, () => {}),
      () => locks.close({ drain: 'soon' as '5s' }),
      () => createLocks({} as Store),
      () => createLocks(store, { ttl: '31s', maxTtl: '30s' }),
      () => createLocks(store, { prefix: 'p'.repeat(129) }),
      () => createLocks(store, { drift: 0.5 }),
      () => createLocks(store, { drift: '0.1' as never }),
      () => closeOnSignal(store as never),
      () => closeOnSignal(locks, { drain: 'soon' as '5s' }),
      () => downgrade(store as never),
      () => evict(store as never, 'a', { token: 1n, reason: 'test' }),
      () => list(store as never),
      () => createLocks(store, { clock: {} as never }),
    ];
    for (const call of bad) {
      const { thrown } = attempt(call);
      expect(usage(thrown), `${call}: ${thrown}`).toBe(true);
    }
    expect(store.calls).toHaveLength(0);
  });

  it('that goes through the longest ttl says which option to raise', () => {
    const { locks } = setUp();
    expect(() => locks.mutex('a', { ttl: '1m' })).toThrow(/maxTtl/);
  });

  it('is the ttl of the locks if that is longer, where the store does not limit it', () => {
    const { store } = setUp();
    const locks = createLocks(store, { ttl: '5m' });
    locks.mutex('a');
    locks.mutex('a', { ttl: '5m', minHold: '5m' });
    expect(() => locks.mutex('a', { ttl: '6m' })).toThrow(/maxTtl of createLocks/);
    const limited = Object.assign(Object.create(store) as typeof store, { maxTtlMs: 30_000 });
    expect(() => createLocks(limited, { ttl: '5m' })).toThrow(/maxTtl of the scripted store/);
  });

  it("that goes through the longest ttl of the store says that the option is the store's", () => {
    const { store } = setUp();
    const storeWith = (maxTtlMs: number): Store =>
      Object.assign(Object.create(store) as typeof store, { maxTtlMs });
    const short = storeWith(5_000);
    const locks = createLocks(short);
    locks.mutex('a', { ttl: '5s' });
    expect(() => locks.mutex('a', { ttl: '6s' })).toThrow(/maxTtl of the scripted store/);
    expect(() => createLocks(short, { maxTtl: '6s' })).toThrow(/maxTtl of the scripted store/);
    const shorter = createLocks(short, { maxTtl: '4s', ttl: '1s' });
    expect(() => shorter.mutex('a', { ttl: '5s' })).toThrow(/maxTtl of createLocks/);
    createLocks(storeWith(60_000)).mutex('a', { ttl: '1m' });
    expect(() => createLocks(storeWith(Number.NaN))).toThrow(/takes a store/);
  });

  it('below the step of the store is refused', () => {
    const { locks } = setUp({ ttlStepMs: 1_000 });
    expect(() => locks.mutex('a', { ttl: 999 })).toThrow(/at least 1000 ms/);
    locks.mutex('a', { ttl: 1_000 });
  });
});

describe('good input', () => {
  it('has durations in units that the compiler knows', () => {
    expectTypeOf<'1.5m' | '2h' | 250>().toExtend<Duration>();
    expectTypeOf<'5 secs'>().not.toExtend<Duration>();
    expectTypeOf(parseDuration).toBeCallableWith(process.env.TTL ?? '10s');
  });

  it('at the edges is taken as it is', async () => {
    const { clock, store, locks } = setUp({}, { prefix: 'p'.repeat(128) });
    const names = [
      'x'.repeat(512),
      '💚'.repeat(128),
      '\0',
      ' ',
      'a',
      'A',
      'é',
      'e\u0301',
      '__proto__',
    ];
    for (const name of names) void locks.mutex(name).acquire({ wait: 0 });
    await clock.rest();
    const resources = store.entered.map(({ resource }) => resource.slice(128));
    expect(new Set(resources)).toEqual(new Set(names));
  });

  for (const [text, ms] of [
    ['250ms', 250],
    ['1.5m', 90_000],
    ['30 s', 30_000],
    ['24d', 24 * 86_400_000],
    [0, 0],
    ['0s', 0],
  ] as const) {
    it(`is understood: ${text}`, () => expect(parseDuration(text)).toBe(ms));
  }
});
