import fc from 'fast-check';
import type { AcquireOptions, Duration, Locks, Store } from 'holdfast';
import { allOf, createLocks, evict, isLockError, list, parseDuration } from 'holdfast';
import { createElection } from 'holdfast/election';
import { describe, expect, expectTypeOf } from 'vitest';
import { cases } from '../support/cases.ts';
import { it, setUp } from '../support/scripted-store.ts';

/** Values that a program in JavaScript may pass by mistake; each test tries them all. */
const KNOWN: readonly unknown[] = [
  ...[Number.NaN, -0, -1, 0.5, 2 ** 31, 2 ** 53, Number.POSITIVE_INFINITY, Symbol('s'), 0n, -5n],
  ...['', ' ', '5', '5 s', '-5s', '1e3s', '5S', '٥s', 'Infinity', '99999d', '\ud800', '\0'],
  ...[null, [], {}, () => 1, new Date(Number.NaN), Object.create(null), 'x'.repeat(2_000)],
  ...[1, 2, 3, 4, 99, 100, 30_000, 30_001, 2 ** 30, 2 ** 30 + 1, 2 ** 31 - 1, true, 1n],
  ...['x'.repeat(512), 'x'.repeat(513), 'ü'.repeat(64), 'ü'.repeat(65), `${'x'.repeat(511)}ü`],
  ...[undefined, '10 seconds', 'NaN', '\udc00a', '€'.repeat(171), ['a', 'b']],
];

const HOSTILE = fc.oneof(
  fc.anything({
    ...{ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true },
    ...{ withSparseArray: true, withTypedArray: true },
  }),
  fc.constantFrom<unknown>(...KNOWN),
  // Nearly durations.
  fc.string({ unit: fc.constantFrom(...'0159. msmhd', '٥', 'e', '+', '_', '\n'), maxLength: 6 }),
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

const ACQUISITIONS: readonly (keyof AcquireOptions)[] = [
  ...(['wait', 'signal', 'permits', 'label', 'ifBusy'] as const),
];

for (const option of ACQUISITIONS) {
  CALLS[`acquire ${option}`] = (locks, value) =>
    locks.semaphore('a', { limit: 3 }).acquire({ [option]: value });
  CALLS[`tryRun ${option}`] = (locks, value) =>
    allOf([locks.mutex('a')]).tryRun({ [option]: value }, () => 1);
}

type Rule = (value: unknown) => boolean;

const LONGEST_MS = 2 ** 31 - 1;
const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5 };

/** Whole milliseconds; NaN if it is no duration. */
function millisecondsOf(value: unknown): number {
  if (typeof value === 'number') return value >= 0 ? Math.ceil(value) : Number.NaN;
  if (typeof value !== 'string') return Number.NaN;
  const unit = Object.keys(UNITS_MS).find((each) => value.endsWith(each)) ?? '';
  const count = value.slice(0, value.length - unit.length).replace(/ $/, '');
  const parts = count.split('.');
  const good = parts.length <= 2 && parts.every((part) => /^[0-9]+$/.test(part));
  return good ? Math.ceil(Number(count) * (UNITS_MS[unit] ?? Number.NaN)) : Number.NaN;
}

function lasts(leastMs = 0, mostMs = LONGEST_MS): Rule {
  return (value) => millisecondsOf(value) >= leastMs && millisecondsOf(value) <= mostMs;
}

/** Half a surrogate pair is no text. */
function text(maxBytes = Number.POSITIVE_INFINITY): Rule {
  return (value) => {
    if (typeof value !== 'string' || value === '') return false;
    return Buffer.byteLength(value) <= maxBytes && Buffer.from(value).toString() === value;
  };
}

function upTo(most: number): Rule {
  return (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most;
}

const either =
  (...words: readonly unknown[]): Rule =>
  (value) =>
    words.includes(value);

const is =
  (type: string): Rule =>
  (value) =>
    typeof value === type;

const never: Rule = () => false;

/** What the documentation allows there, written down a second time. */
const NEEDED: Readonly<Record<string, Rule>> = {
  ...{ 'createLocks store': never, 'all locks': never, 'all element': never },
  ...{ 'mutex name': text(512), 'rwLock name': text(512), 'election name': text(512) },
  ...{ 'inspect name': text(512), 'evict name': text(512), 'evict reason': text(1024) },
  ...{ 'semaphore limit': upTo(2 ** 30), 'evict token': is('bigint'), parseDuration: lasts() },
  ...{ 'on listener': is('function'), 'run work': is('function'), 'tryRun work': is('function') },
};

/** The same, where undefined means the default. */
const OPTIONAL: Readonly<Record<string, Rule>> = {
  ...{ 'label option': is('string'), 'ttl option': lasts(100), 'wait option': lasts() },
  ...{ 'maxTtl option': lasts(10_000), 'clock option': never },
  'prefix option': (value) => value === '' || text(128)(value),
  'list prefix': (value) => value === '' || text()(value),
  'drift option': (value) => typeof value === 'number' && value >= 0 && value < 0.5,
  ...{ 'mutex ttl': lasts(100, 30_000), 'mutex minHold': lasts(0, 30_000) },
  ...{ 'mutex maxHold': lasts(1), 'observe every': lasts(1), 'close drain': lasts() },
  ...{ 'mutex fair': is('boolean'), 'mutex reentrant': is('boolean') },
  ...{ 'mutex heartbeat': is('boolean'), 'evict now': is('boolean') },
  ...{ 'election seats': upTo(2 ** 30), 'campaign signal': never, 'acquire signal': never },
  ...{ 'acquire wait': lasts(), 'acquire permits': upTo(3), 'acquire label': is('string') },
  ...{ 'tryRun wait': never, 'tryRun signal': never, 'tryRun permits': never },
  'tryRun label': is('string'),
  ...{ 'acquire ifBusy': either('replace-waiting', 'replace'), 'tryRun ifBusy': never },
};

/** Undefined where no rule is written down. */
function allowed(what: string, value: unknown): boolean | undefined {
  const rule = OPTIONAL[what];
  return rule ? value === undefined || rule(value) : NEEDED[what]?.(value);
}

type Outcome = { thrown?: unknown; rejected?: unknown };

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

const usage = (error: unknown): boolean => isLockError(error, 'USAGE');

describe('bad input', () => {
  const some = cases<[unknown]>(100);
  const numRuns = KNOWN.length + (some.numRuns ?? 0);
  const all = { ...some, numRuns, examples: KNOWN.map((value): [unknown] => [value]) };

  for (const [what, call] of Object.entries(CALLS)) {
    it(`is a UsageError at once, and nothing is sent: ${what}`, async () => {
      await fc.assert(
        fc.asyncProperty(HOSTILE, async (value) => {
          const { clock, store, locks } = setUp();
          const outcome = attempt(() => call(locks, value as never, store));
          await clock.advance(0);
          const taken = !('thrown' in outcome);
          expect(allowed(what, value) ?? taken, 'whether it is allowed').toBe(taken);
          if ('thrown' in outcome) {
            expect(usage(outcome.thrown), String((outcome.thrown as Error)?.stack)).toBe(true);
            expect(store.calls).toHaveLength(0);
          } else if ('rejected' in outcome) {
            const { rejected } = outcome;
            expect(isLockError(rejected) && !usage(rejected), String(rejected)).toBe(true);
          }
        }),
        all,
      );
    });
  }

  it('that goes through the longest ttl says which option to raise', ({ bed }) => {
    expect(() => bed.locks.mutex('a', { ttl: '1m' })).toThrow(/^ttl is 60000 ms, more than maxTtl/);
    expect(() => bed.locks.mutex('a', { minHold: '1m' })).toThrow(/^minHold is 60000 ms, more/);
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
    expect(() => createLocks(short, { maxTtl: '6s' })).toThrow(
      /^maxTtl is 6000 ms, .* scripted store/,
    );
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
    setUp().locks.mutex('a', { minHold: '2s', maxHold: '2s' });
    const { clock, store, locks } = setUp({}, { prefix: 'p'.repeat(128) });
    const names = [
      ...['x'.repeat(512), '💚'.repeat(128), '\0', ' '],
      ...['a', 'A', 'é', 'e\u0301', '__proto__'],
    ];
    for (const name of names) void locks.mutex(name).acquire({ wait: 0, permits: 1 });
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

  it('is a duration as the documentation says, rounded up', () => {
    const good = HOSTILE.filter(lasts());
    const property = fc.property(good, (value) => {
      expect(parseDuration(value as Duration)).toBe(millisecondsOf(value));
    });
    fc.assert(property, cases(100));
  });
});
