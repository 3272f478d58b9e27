/** Work that is done once, and values that one loads for all. */

import type fc from 'fast-check';
import type { Lease, LockErrorCode, Work } from 'holdfast';
import type { OnceOptions } from 'holdfast/once';
import { once } from 'holdfast/once';
import type { RefreshOptions } from 'holdfast/refresh';
import { refresh } from 'holdfast/refresh';
import { acquireOptions, RUN_CODES, TERMS, work } from './lock-steps.ts';
import { type Arg, made, options, plain, type Recipe, slot } from './recipes.ts';
import { durationOf, isDuration, isFlag, isFunction, isKeepFor, isText, maybe } from './rules.ts';
import { step, type Weighted } from './step.ts';
import { WORKS } from './works.ts';

const key: fc.Arbitrary<Arg> = slot(
  (value) => isText(value, 504),
  plain('a', 'b', 'order:7', '\0', 'ü', 'x'.repeat(504)),
  plain('', 'x'.repeat(505), 'a\ud800'),
);

const common = { ...acquireOptions, ttl: TERMS.ttl, maxHold: TERMS.maxHold };

const onceOptions = options(
  {
    ...common,
    keepFor: slot(
      isKeepFor,
      plain('1s', '10s', '3660d', 0.5),
      plain(0, '3661d', undefined, '1w', Number.POSITIVE_INFINITY),
    ),
    ifRunning: slot(
      maybe((value) => value === 'wait' || value === 'skip'),
      plain('wait', 'skip', undefined),
      plain('Skip', '', true, null),
    ),
    keepResult: slot(maybe(isFlag), plain(true, false, undefined), plain('true', 1, null)),
  },
  { needed: ['keepFor'] },
);

const reads = made({
  'reads nothing': () => () => undefined,
  'reads nothing, later': (world) => () => world.sleep(50).then(() => undefined),
  'reads a value': () => () => 'fresh',
  'reads a value half of the time': () => {
    let times = 0;
    return () => (++times % 2 === 0 ? 'fresh' : undefined);
  },
  'cannot read': (world) => () => {
    throw world.reason(new Error('unreadable'));
  },
});

/** Whoever shares a load that never ends would wait for ever. */
const loads: readonly Recipe<unknown>[] = WORKS.filter(({ text }) => !text.startsWith('endless'));

const retryAfter = slot(
  maybe((value) => isDuration(value) && (durationOf(value) ?? 0) <= 60_000),
  plain(0, '1s', '1m', undefined),
  plain('61s', -1, null),
);

const refreshOptions = options(
  {
    ...common,
    read: slot(isFunction, reads, plain(undefined, null, 'value')),
    load: slot(isFunction, loads, plain(undefined, null, 'value')),
    staleWhileRefreshing: slot(maybe(isFunction), reads, plain(null, 'old')),
    retryAfter,
  },
  { needed: ['read', 'load'] },
);

/** What the work answers may be no JSON. */
const ONCE_CODES: readonly LockErrorCode[] = [...RUN_CODES, 'USAGE'];
const REFRESH_CODES: readonly LockErrorCode[] = [...RUN_CODES, 'REFRESH'];

export const JOB_STEPS: readonly Weighted[] = [
  step(
    'once',
    [key, onceOptions, work],
    (world, name: string, how: OnceOptions, job: Work<Lease, unknown>) =>
      once(world.locks[0]!, name, how, job),
    { codes: ONCE_CODES, weight: 8 },
  ),
  step(
    'refresh',
    [key, refreshOptions],
    (world, name: string, how: RefreshOptions<unknown>) => refresh(world.locks[0]!, name, how),
    { codes: REFRESH_CODES, weight: 8 },
  ),
];
