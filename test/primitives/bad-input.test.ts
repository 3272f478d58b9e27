/** What a program passes by mistake: a usage error, before anything is sent. */
import {
  allOf,
  closeOnSignal,
  createLocks,
  downgrade,
  evict,
  type LockOptions,
  type Locks,
  type LocksOptions,
  list,
} from 'holdfast';
import { createElection } from 'holdfast/election';
import { memoryStore } from 'holdfast/memory';
import { countingStore } from 'holdfast/testkit';
import { expect, test } from 'vitest';

type Attempt = readonly [what: string, attempt: (locks: Locks) => unknown];

function others(): Locks {
  return createLocks(memoryStore());
}

/** What a program without types may pass. */
function wrong(value: unknown): never {
  return value as never;
}

const ATTEMPTS: readonly Attempt[] = [
  ['an empty name', (locks) => locks.mutex('')],
  ['a name that is no text', (locks) => locks.mutex(wrong(42))],
  ['a name of more than 512 bytes', (locks) => locks.mutex('\u20ac'.repeat(171))],
  ['half a surrogate pair in a name', (locks) => locks.mutex('a\ud800')],
  ['the other half of one', (locks) => locks.mutex('\udc00a')],
  ['options that are no object', (locks) => locks.mutex('a', wrong('10s'))],
  ['an option that is misspelt', (locks) => locks.mutex('a', wrong({ tll: '10s' }))],
  ...['10 seconds', '', '-1s', 'NaN', Number.NaN, Number.POSITIVE_INFINITY, -1, true, null, {}].map(
    (ttl): Attempt => [
      `the duration ${typeof ttl === 'string' ? `'${ttl}'` : String(ttl)} (${typeof ttl})`,
      (locks) => locks.mutex('a', { ttl: wrong(ttl) }),
    ],
  ),
  ['a ttl of 0', (locks) => locks.mutex('a', { ttl: 0 })],
  ['a ttl of 99 ms', (locks) => locks.mutex('a', { ttl: 99 })],
  ['a ttl above maxTtl', (locks) => locks.mutex('a', { ttl: '31s' })],
  ['a minHold above maxTtl', (locks) => locks.mutex('a', { minHold: '31s' })],
  ['no minHold', (locks) => locks.mutex('a', { minHold: wrong(null) })],
  ['a maxHold below minHold', (locks) => locks.mutex('a', { minHold: '2s', maxHold: '1s' })],
  ['a maxHold of 0', (locks) => locks.mutex('a', { maxHold: 0 })],
  ...(['fair', 'reentrant', 'heartbeat'] as const).map(
    (flag): Attempt => [
      `a flag ${flag} that is no boolean`,
      (locks) => locks.mutex('a', { [flag]: wrong('yes') } satisfies LockOptions),
    ],
  ),
  ...[0, -1, 1.5, Number.NaN, 2 ** 30 + 1, '3', undefined].map(
    (limit): Attempt => [
      `the limit ${String(limit)} (${typeof limit})`,
      (locks) => locks.semaphore('a', { limit: wrong(limit) }),
    ],
  ),
  ['no options for a semaphore', (locks) => locks.semaphore('a', wrong(undefined))],
  ['0 seats', (locks) => createElection(locks, 'a', { seats: 0 })],
  ...[0, -1, 1.5, Number.NaN, 6, '1'].map(
    (permits): Attempt => [
      `${String(permits)} (${typeof permits}) of 5 permits`,
      (locks) => locks.semaphore('a', { limit: 5 }).acquire({ permits: wrong(permits) }),
    ],
  ),
  ['permits of a mutex', (locks) => locks.mutex('a').acquire({ permits: 2 })],
  ['permits of a try', (locks) => locks.mutex('a').tryAcquire({ permits: 2 })],
  ['permits of a multi-lock', (locks) => allOf([locks.mutex('a')]).acquire({ permits: 1 })],
  ['options of a call that are no object', (locks) => locks.mutex('a').acquire(wrong(null))],
  ['options of a call that are a list', (locks) => locks.mutex('a').acquire(wrong([]))],
  ['a misspelt option of a call', (locks) => locks.mutex('a').acquire(wrong({ wiat: '5s' }))],
  ['a wait that is no duration', (locks) => locks.mutex('a').acquire({ wait: wrong('soon') })],
  ['a negative wait', (locks) => locks.mutex('a').acquire({ wait: -1 })],
  ['a signal that is none', (locks) => locks.mutex('a').acquire({ signal: wrong({}) })],
  ['a label that is no text', (locks) => locks.mutex('a').acquire({ label: wrong(7) })],
  ['a run without work', (locks) => locks.mutex('a').run(wrong(undefined))],
  ['a run with options alone', (locks) => locks.mutex('a').run(wrong({ wait: '1s' }))],
  ['a tryRun without work', (locks) => locks.mutex('a').tryRun(wrong('work'))],
  ['a multi-lock of nothing', () => allOf([])],
  ['a multi-lock of no list', (locks) => allOf(wrong(locks.mutex('a')))],
  ['a multi-lock of names', () => allOf(wrong(['a', 'b']))],
  ['the same lock twice in one', (locks) => allOf([locks.mutex('a'), locks.mutex('a')])],
  ['locks of others in one', (locks) => allOf([locks.mutex('a'), others().mutex('b')])],
  ['a wait of a campaign', (locks) => createElection(locks, 'e').campaign(wrong({ wait: '5s' }))],
  ['looks without a pause', (locks) => createElection(locks, 'e').observe({ every: 0 })],
  ['an event that does not exist', (locks) => locks.on(wrong('gone'), () => {})],
  ['a listener that is no function', (locks) => locks.on('lost', wrong('listener'))],
  ['a look at an empty name', (locks) => locks.inspect('')],
  ['an eviction by a number', (locks) => evict(locks, 'a', { token: wrong(1), reason: 'test' })],
  ['an eviction without a reason', (locks) => evict(locks, 'a', { token: 1n, reason: '' })],
  ['a drain that is no duration', (locks) => locks.close({ drain: wrong('later') })],
  ['the same at a signal', (locks) => closeOnSignal(locks, { drain: wrong('later') })],
  ['closing a store at a signal', () => closeOnSignal(wrong(memoryStore()))],
  ['a downgrade of a store', () => downgrade(wrong(memoryStore()))],
  ['an eviction on a store', () => evict(wrong(memoryStore()), 'a', { token: 1n, reason: 'test' })],
  ['a list of a store', () => list(wrong(memoryStore()))],
];

const SETUPS: readonly (readonly [string, LocksOptions])[] = [
  ['a ttl that is no duration', { ttl: wrong('long') }],
  ['a ttl above maxTtl', { ttl: '1m', maxTtl: '30s' }],
  ['a prefix that is no text', { prefix: wrong(1) }],
  ['a prefix of more than 128 bytes', { prefix: 'x'.repeat(129) }],
  ['a drift of a half', { drift: 0.5 }],
  ['a drift that is no number', { drift: Number.NaN }],
  ['a drift that is text', { drift: wrong('0.1') }],
  ['a clock that is none', { clock: wrong({}) }],
  ['a label that is no text', { label: wrong(1) }],
  ['an option that is misspelt', wrong({ maxTTL: '1m' })],
];

test('names what was meant where work or a URL is in the wrong place', () => {
  const locks = createLocks(memoryStore());
  const work = wrong(() => 1);
  const meant = /^Call lock\.run\(work\)/;
  expect(() => locks.mutex('a', work)).toThrow(meant);
  expect(() => locks.semaphore('a', work)).toThrow(meant);
  expect(() => locks.rwLock('a', work)).toThrow(meant);
  expect(() => locks.mutex('a').acquire(work)).toThrow(meant);
  expect(() => locks.mutex('a').run(work, wrong({}))).toThrow(meant);
  expect(() => locks.close(work)).toThrow(/^The options of close must be an object\.$/);
  expect(() => createLocks(wrong('sqlite:x'))).toThrow(/for a URL call connect\(url\)/);
});

const USAGE = expect.objectContaining({ code: 'USAGE' });

test.each(ATTEMPTS)('%s: a usage error at once, and nothing is sent', (_, attempt) => {
  const store = countingStore(memoryStore());
  const locks = createLocks(store);
  expect(() => void attempt(locks)).toThrow(USAGE);
  expect(store.total()).toBe(0);
});

test.each(SETUPS)('createLocks with %s: a usage error', (_, options) => {
  expect(() => createLocks(memoryStore(), options)).toThrow(USAGE);
});

test.each([undefined, null, {}, 'memory:'])('createLocks with %s for a store', (store) => {
  expect(() => createLocks(wrong(store))).toThrow(USAGE);
});
