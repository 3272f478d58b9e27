/**
 * What a program passes by mistake: a usage error, before anything is sent. usage.test.ts tries
 * what each argument may be; here is what depends on another one, or on the names of options.
 */
import type { Locks, LocksOptions, Mutex, Store } from 'holdfast';
import { allOf, closeOnSignal, createLocks, downgrade, evict, list, tryAllOf } from 'holdfast';
import { createElection } from 'holdfast/election';
import { memoryStore } from 'holdfast/memory';
import { countingStore } from 'holdfast/testkit';
import { expect, test } from 'vitest';

type Attempt = readonly [what: string, attempt: (locks: Locks) => unknown];

const others = (): Locks => createLocks(memoryStore());

function nthOf(locks: Locks): (_: unknown, n: number) => Mutex {
  return (_, n) => locks.mutex(String(n));
}

/** What a program without types may pass. */
const wrong = (value: unknown): never => value as never;

const ATTEMPTS: readonly Attempt[] = [
  ['options that are no object', (locks) => locks.mutex('a', wrong('10s'))],
  ['an option that is misspelt', (locks) => locks.mutex('a', wrong({ tll: '10s' }))],
  ['a maxHold below minHold', (locks) => locks.mutex('a', { minHold: '2s', maxHold: '1s' })],
  ['no options for a semaphore', (locks) => locks.semaphore('a', wrong(undefined))],
  ['permits of a mutex', (locks) => locks.mutex('a').acquire({ permits: 2 })],
  ['permits of a try', (locks) => locks.mutex('a').tryAcquire({ permits: 2 })],
  ['permits of a multi-lock', (locks) => allOf([locks.mutex('a')]).acquire({ permits: 1 })],
  ['options of a call that are no object', (locks) => locks.mutex('a').acquire(wrong(null))],
  ['options of a call that are a list', (locks) => locks.mutex('a').acquire(wrong([]))],
  ['a misspelt option of a call', (locks) => locks.mutex('a').acquire(wrong({ wiat: '5s' }))],
  ['a run without work', (locks) => locks.mutex('a').run(wrong(undefined))],
  ['a run with options alone', (locks) => locks.mutex('a').run(wrong({ wait: '1s' }))],
  ['a tryRun without work', (locks) => locks.mutex('a').tryRun(wrong('work'))],
  ['a multi-lock of no list', (locks) => allOf(wrong(locks.mutex('a')))],
  ['a multi-lock with a hole', () => allOf(new Array(3))],
  ['locks as one of several', (locks) => allOf([locks.mutex('a'), wrong(locks)])],
  ['several as one', (locks) => allOf([locks.mutex('a'), wrong(allOf([locks.mutex('b')]))])],
  ['the same lock twice in one', (locks) => allOf([locks.mutex('a'), locks.mutex('a')])],
  ['locks of others in one', (locks) => allOf([locks.mutex('a'), others().mutex('b')])],
  ['a try of no list', (locks) => tryAllOf(wrong(locks.mutex('a')))],
  ['the same lock twice in a try', (locks) => tryAllOf([locks.mutex('a'), locks.mutex('a')])],
  ['a wait of a try of several', (locks) => tryAllOf([locks.mutex('a')], wrong({ wait: '1s' }))],
  ['permits of a try of several', (locks) => tryAllOf([locks.mutex('a')], { permits: 1 })],
  ['more than a hundred locks', (locks) => tryAllOf(Array.from({ length: 101 }, nthOf(locks)))],
  ['a wait of a campaign', (locks) => createElection(locks, 'e').campaign(wrong({ wait: '5s' }))],
  ['an event that does not exist', (locks) => locks.on(wrong('gone'), () => {})],
  ['an event that is a symbol', (locks) => locks.on(wrong(Symbol('s')), () => {})],
  ['a drain at a signal', (locks) => closeOnSignal(locks, { drain: wrong('later') })],
  ['closing a store at a signal', () => closeOnSignal(wrong(memoryStore()))],
  ['a downgrade of a store', () => downgrade(wrong(memoryStore()))],
  ['a downgrade of nothing', () => downgrade(wrong(undefined))],
  ['an eviction on a store', () => evict(wrong(memoryStore()), 'a', { token: 1n, reason: 'test' })],
  ['a text that nobody has handed over', (locks) => locks.resume('holdfast.1.e30')],
  ['a text of another layout', (locks) => locks.resume('holdfast.2.e30')],
  ['no text of a lease', (locks) => locks.resume(wrong(undefined))],
  ['an option that a resumed lease lacks', (locks) => locks.resume('', wrong({ fair: true }))],
  ['a list of a store', () => list(wrong(memoryStore()))],
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
  expect(() => locks.mutex('a').run(wrong({ wait: '1s' }))).toThrow(/^The last argument must be/);
  expect(() => locks.mutex('a').run(wrong({ wiat: '1s' }))).toThrow(/has no option "wiat"/);
  const none = { message: 'Only a semaphore has permits.', resource: 'a' };
  expect(() => locks.mutex('a').acquire({ permits: 2 })).toThrow(expect.objectContaining(none));
  expect(() => allOf([])).toThrow(/^allOf\(\) takes a list of at least one lock\.$/);
  expect(() => tryAllOf([])).toThrow(/^tryAllOf\(\) takes a list/);
  expect(() => allOf([locks.mutex('a'), wrong(undefined)])).toThrow(/takes .* of one Locks\.$/);
});

test.each<[what: string, over: (store: Store) => object]>([
  ['an optional verb that is no function', () => ({ watch: 5 })],
  ['no reach', ({ traits }) => ({ traits: { ...traits, reach: undefined } })],
  ['a step of nothing', ({ traits }) => ({ traits: { ...traits, ttlStepMs: 0 } })],
  ['a longest ttl of nothing', () => ({ maxTtlMs: 0 })],
])('takes no store with %s, and speaks of no URL', (_, over) => {
  const store = memoryStore();
  const broken = Object.assign(Object.create(store) as Store, over(store));
  expect(() => createLocks(broken)).toThrow(/takes a store, such as sqliteStore\(file\)\.$/);
});

const USAGE = expect.objectContaining({ code: 'USAGE' });

test.each(ATTEMPTS)('%s: a usage error at once, and nothing is sent', (_, attempt) => {
  const store = countingStore(memoryStore());
  const locks = createLocks(store);
  expect(() => void attempt(locks)).toThrow(USAGE);
  expect(store.total()).toBe(0);
});

test.each<[string, LocksOptions]>([
  ['a ttl above maxTtl', { ttl: '1m', maxTtl: '30s' }],
  ['an option that is misspelt', wrong({ maxTTL: '1m' })],
])('createLocks with %s: a usage error', (_, options) => {
  expect(() => createLocks(memoryStore(), options)).toThrow(USAGE);
});
