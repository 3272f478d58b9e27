/** Making locks, and taking them. */

import fc from 'fast-check';
import {
  type AcquireOptions,
  allOf,
  type Lease,
  type Lock,
  type LockErrorCode,
  type LockOptions,
  type MultiLease,
  type SemaphoreOptions,
  type Work,
} from 'holdfast';
import type { ElectionOptions } from 'holdfast/election';
import { createElection } from 'holdfast/election';
import { type Arg, made, ODD, options, plain, Recipe, slot } from './recipes.ts';
import {
  holdsAgree,
  isCount,
  isDuration,
  isFlag,
  isFunction,
  isMinHold,
  isName,
  isPositive,
  isSignal,
  isString,
  isTtl,
  maybe,
} from './rules.ts';
import { given, step, type Weighted } from './step.ts';
import { WORKS } from './works.ts';
import type { World } from './world.ts';

export const name: fc.Arbitrary<Arg> = slot(
  isName,
  plain('a', 'b', 'p:c', 's', 'r', 'e', 'ü', '\0', ' ', 'x'.repeat(512)),
  plain('', 'x'.repeat(513), 'ü'.repeat(257), 'a\ud800', '\udc00', `${'x'.repeat(511)}ü`),
);

const flag = slot(maybe(isFlag), plain(true, false, undefined), plain('true', 1, 0, null));

export const signal: fc.Arbitrary<Arg> = slot(
  maybe(isSignal),
  [0, 1, 2, 3].map((n) => new Recipe(`signal ${n}`, (world) => world.signal(n))),
  made({
    'a controller': () => new AbortController(),
    'an event target': () => new EventTarget(),
    'an heir': (world) => Object.create(world.signal(1)) as unknown,
  }),
);

export const duration: fc.Arbitrary<Arg> = slot(
  maybe(isDuration),
  plain(0, 1, 50, 0.5, '0s', '50ms', '1.5s', '5 s', undefined, 4_000),
  plain('1e3', ' 5s', '5s ', '-1s', '999999999d', '25d', -1, Number.NaN, '5 sec', '', 2 ** 31),
);

const label = slot(maybe(isString), plain('me', '', '\ud800', 'l'.repeat(300)), plain(7, null));

export const TERMS: Readonly<
  Record<'ttl' | 'minHold' | 'maxHold' | 'heartbeat', fc.Arbitrary<Arg>>
> = {
  ttl: slot(
    maybe(isTtl),
    plain(100, '1s', '10s', 30_000, 5_000.5, undefined),
    plain(99, 30_001, '31s', 0, '0.09s', '1e3', null),
  ),
  minHold: slot(maybe(isMinHold), plain(0, '50ms', 1_000), plain('31s', -1, null)),
  maxHold: slot(maybe(isPositive), plain('1s', 100, '24d', undefined), plain(0, '25d', '0ms')),
  heartbeat: flag,
};

const lockOptions = { ...TERMS, fair: flag, reentrant: flag };

const limit = slot((n) => isCount(n, 1, 2 ** 30), plain(2, 3), plain(0, 1.5, '3', 2 ** 30 + 1));

const withRule = { rule: holdsAgree };

export const acquireOptions: Readonly<Record<'wait' | 'signal' | 'label', fc.Arbitrary<Arg>>> = {
  wait: duration,
  signal,
  label,
};

/** Three seats at most; more than two permits are never asked for. */
const MAKERS = [
  step(
    'mutex',
    [name, options(lockOptions, withRule)],
    (world, text: string, said: LockOptions) => {
      const lock = world.locks[0]?.mutex(text, said);
      if (lock) world.add(lock);
    },
  ),
  step(
    'rwLock',
    [name, options(lockOptions, withRule)],
    (world, text: string, said: LockOptions) => {
      const lock = world.locks[0]?.rwLock(text, said);
      if (lock) for (const side of [lock.read, lock.write]) world.add(side);
    },
  ),
  step(
    'semaphore',
    [name, options({ ...lockOptions, limit }, { ...withRule, needed: ['limit'] })],
    (world, text: string, said: SemaphoreOptions) =>
      world.keep('semaphore', world.locks[0]?.semaphore(text, said)),
  ),
  step(
    'election',
    [
      name,
      options(
        {
          ...TERMS,
          seats: slot(
            maybe((n) => isCount(n, 1, 2 ** 30)),
            plain(1, 2, 3),
          ),
        },
        withRule,
      ),
    ],
    (world, text: string, said: ElectionOptions) =>
      world.keep('election', createElection(world.locks[0]!, text, said)),
  ),
  step('allOf', [lists()], (world, parts: Lock[]) => world.keep('multi', allOf(parts))),
];

/** Lists of locks of all origins; the odd ones too. */
function lists(): fc.Arbitrary<Arg> {
  const some = fc.array(fc.nat(12), { maxLength: 4, size: 'max' }).map(
    (places) =>
      new Recipe(`locks ${places.join(', ')}`, (world) => {
        const value = places.map((n) => world.lock(n));
        const resources = new Set(value.map(({ resource }) => resource));
        const origins = new Set(value.map((lock) => world.own.has(lock)));
        return { value, valid: origins.size === 1 && resources.size === value.length };
      }),
  );
  const mixed = fc.constantFrom(...ODD).map(
    ({ text, make }) =>
      new Recipe(`a lock and ${text}`, (world) => ({
        value: [world.lock(0), make(world)],
        valid: false,
      })),
  );
  const odd = fc
    .constantFrom(...ODD)
    .map(({ text, make }) => new Recipe(text, (world) => ({ value: make(world), valid: false })));
  return fc.oneof(
    { weight: 10, arbitrary: some },
    { weight: 1, arbitrary: mixed },
    { weight: 1, arbitrary: odd },
  );
}

const CODES: readonly LockErrorCode[] = [
  ...(['ACQUIRE_TIMEOUT', 'LEASE_LOST', 'MISMATCH', 'QUEUE_FULL', 'CLOSED'] as const),
];
export const RUN_CODES: readonly LockErrorCode[] = [...CODES, 'DEADLOCK'];

const lock = given('lock', (world, n) => world.lock(n));
const semaphore = given('semaphore', (world, n) => world.thing('semaphore', n));
const multi = given('multi-lock', (world, n) => world.thing('multi', n));

export const work: fc.Arbitrary<Arg> = slot(
  isFunction,
  WORKS,
  plain(undefined, null, 'work', 5),
).map(
  ({ text, make }) =>
    new Recipe(text, (world) => ({ ...make(world), endless: text.startsWith('endless') })),
);

type Terms = Parameters<typeof options>[0];

/** A function alone would be the work. */
function beforeWork(said: fc.Arbitrary<Arg>): fc.Arbitrary<Arg> {
  return said.map(
    ({ text, make }) =>
      new Recipe(text, (world) => {
        const all = make(world);
        return isFunction(all.value) ? { value: null, valid: false } : all;
      }),
  );
}

/** The four ways to take locks of this sort. */
function ways(sort: string, target: fc.Arbitrary<Arg>, terms: Terms, weight: number) {
  const keep = (world: World, lease: Lease | MultiLease | null): void => {
    if (lease) world.held(lease);
  };
  const said = options(terms);
  const tried = options({ ...terms, wait: never });
  return [
    step(
      `${sort}.acquire`,
      [target, said],
      (world, each: Lock, how: AcquireOptions) =>
        each.acquire(how).then((lease) => keep(world, lease)),
      { codes: CODES, weight: 2 * weight },
    ),
    step(
      `${sort}.tryAcquire`,
      [target, tried],
      (world, each: Lock, how: AcquireOptions) =>
        each.tryAcquire(how).then((lease) => keep(world, lease)),
      { codes: CODES, weight },
    ),
    step(
      `${sort}.run`,
      [target, beforeWork(said), work],
      (_, each: Lock, how: AcquireOptions, job: Work<Lease, unknown>) => each.run(how, job),
      { codes: RUN_CODES, weight: 2 * weight },
    ),
    step(
      `${sort}.run without options`,
      [target, work],
      (_, each: Lock, job: Work<Lease, unknown>) => each.run(job),
      { codes: RUN_CODES, weight },
    ),
    step(
      `${sort}.tryRun`,
      [target, beforeWork(tried), work],
      (_, each: Lock, how: AcquireOptions, job: Work<Lease, unknown>) => each.tryRun(how, job),
      { codes: RUN_CODES, weight },
    ),
  ];
}

const one = slot(
  maybe((n) => n === 1),
  plain(1, undefined),
  plain(2, 0, '1', 1n),
);
const two = slot(
  maybe((n) => isCount(n, 1, 2)),
  plain(1, 2, undefined),
  plain(4, 0, 1.5, -1),
);
const none = slot((n) => n === undefined, plain(undefined), plain(1, 2));
/** Of a try. */
const never = slot((wait) => wait === undefined, plain(undefined), plain(0, '5s'));

export const LOCK_STEPS: readonly Weighted[] = [
  ...MAKERS,
  ...ways('lock', lock, { ...acquireOptions, permits: one }, 4),
  ...ways('semaphore', semaphore, { ...acquireOptions, permits: two }, 2),
  ...ways('multi-lock', multi, { ...acquireOptions, permits: none }, 2),
];
