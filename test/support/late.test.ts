import assert from 'node:assert/strict';
import { StoreError } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { processError } from 'vitest/internal/browser';
import { LeaseLostError } from '../../src/core/errors.ts';
import { held as heldStatus } from '../../src/testkit/case.ts';
import { type Failure, isLate, isVoid } from './late.ts';
import { paceOf } from './pace.ts';
import { Disk } from './stalls.ts';
import { TooLate } from './until.ts';

/** As the runner keeps it. */
async function failureOf(fail: () => unknown): Promise<Failure> {
  try {
    await fail();
  } catch (error) {
    return processError(error);
  }
  throw new Error('It did not fail.');
}

const thrown = (error: unknown) => (): never => {
  throw error;
};
const storeError = (message: string): StoreError =>
  new StoreError(message, { retryable: true, outcome: 'unknown' });
const lease = { held: false, state: 'lost' };

/** What a stall alone brings about. */
const LATE: readonly (readonly [string, () => unknown])[] = [
  ['a patience that ran out', thrown(new TooLate('never held'))],
  ['the patience of the kit', () => assert.fail('in vain waited until it was held')],
  ['a claim that the kit saw end', () => heldStatus({ state: 'gone', why: 'expired' })],
  ["vitest's own", thrown(new Error('Hook timed out in 300000ms.'))],
  ['a poll', () => expect.poll(() => 1, { timeout: 1, interval: 1 }).toBe(2)],
  ['a wait', thrown(Object.assign(new Error('Not acquired'), { code: 'ACQUIRE_TIMEOUT' }))],
  ['no heartbeat', thrown(new LeaseLostError('a', 'expired'))],
  ['a stall that was noticed', thrown(new LeaseLostError('a', 'stalled'))],
  ['no answer', thrown(storeError('The store did not answer within 200 ms.'))],
  ['a silent server', thrown(storeError('No reply came from the server within 2000 ms.'))],
  ['no connection', thrown(storeError('It cannot be reached (timeout: no connection yet).'))],
  ['no turn', thrown(storeError('The request could not be sent to the server in time.'))],
  ['no write', thrown(storeError("'a' in mongodb could not be written for a whole TTL."))],
  ['a state', () => expect(lease.state).toBe('held')],
  ['a state in a list', () => expect(['held', 'waiting']).toEqual(['held', 'held'])],
  ['a state in an object', () => expect({ state: 'gone' }).toEqual({ state: 'held' })],
  ['a loss where none should be', () => expect(['expired', 'a']).toEqual([undefined, 'a'])],
  ['a lease that should be held', () => expect(lease).toHaveProperty('held', true)],
  ['what is not there', () => expect(null).not.toBeNull()],
  ['what has not come', () => expect(undefined).toBeDefined()],
];

const [held, token, stolen] = [true, 7n, { state: 'held' }];

/** What is wrong on any machine, however late it is. */
const NEVER_LATE: readonly (readonly [string, () => unknown])[] = [
  ['two holders', () => expect([held, true].filter(Boolean)).toHaveLength(1)],
  ['who should have lost it holds', () => expect(stolen.state).toBe('lost')],
  ['who should wait holds', () => expect(stolen.state).toBe('waiting')],
  ['a token that did not grow', () => expect(token).toBeGreaterThan(7n)],
  ['a bare false', () => expect(token > 7n).toBe(true)],
  ['a lost write', () => expect(undefined).toBe('written')],
  ['a lost write in an object', () => expect({ a: undefined }).toEqual({ a: 'written' })],
  ['a write that was refused', () => expect('other').toBe('written')],
  ['an illegal history', () => expect(['a read of 1 after 2']).toEqual([])],
  ['a wrong reason', () => expect('expired').toBe('evicted')],
  ['a reason that no stall brings about', () => expect(['evicted']).toEqual([undefined])],
  [
    'a wrong reason beside a state',
    () => expect({ state: 'lost', why: 'expired' }).toEqual({ state: 'held', why: 'evicted' }),
  ],
  [
    'another error than expected',
    () => expect(() => thrown(new TooLate('never'))()).toThrow(StoreError),
  ],
  ['a claim that was forgotten', () => heldStatus({ state: 'gone', why: 'store-reset' })],
  ['an eviction', thrown(new LeaseLostError('a', 'evicted'))],
  ['a store that lost its memory', thrown(new LeaseLostError('a', 'store-reset'))],
  ['what a store says', thrown(storeError('WRONGTYPE'))],
  ['any other error', thrown(new TypeError('a is undefined'))],
];

describe('late', () => {
  it.each(LATE)('is %s', async (_, fail) => {
    expect(isLate(await failureOf(fail))).toBe(true);
  });

  it.each(NEVER_LATE)('is not %s', async (_, fail) => {
    const failure = await failureOf(fail);
    expect(isLate(failure)).toBe(false);
    expect(isVoid({ failures: [failure], gapMs: 60_000, leaseMs: 1 })).toBe(false);
  });
});

describe('void', () => {
  const late = { message: 'never held', name: 'TooLate' };

  it('is what came too late while the machine stood still for a third of a lease', () => {
    expect(isVoid({ failures: [late], gapMs: 101, leaseMs: 300 })).toBe(true);
    expect(isVoid({ failures: [late], gapMs: 100, leaseMs: 300 })).toBe(false);
  });

  it('is no test that has failed otherwise, too, or not at all', () => {
    const failures = [late, { message: 'expected 2 to be 1' }];
    expect(isVoid({ failures, gapMs: 101, leaseMs: 300 })).toBe(false);
    expect(isVoid({ failures: [], gapMs: 101, leaseMs: 300 })).toBe(false);
  });
});

it('the pace is how much later this machine is than a quiet one, or how much slower', () => {
  const gaps = (late: number): number[] => [...Array<number>(98).fill(11), late, late];
  expect([paceOf(gaps(25), 1.1), paceOf(gaps(75), 1.1), paceOf(gaps(25), 3)]).toEqual([1, 2.5, 2]);
  expect(paceOf([...Array<number>(199).fill(11), 5000], 1.1)).toBe(1);
});

describe('the machine', () => {
  it('stands still while its disk does', () => {
    let waitedMs = 0;
    const disk = new Disk(() => waitedMs);
    const look = (now: number, moreMs: number): number => {
      waitedMs += moreMs;
      return disk.look(now, 10)?.ms ?? 0;
    };
    expect([look(10, 0), look(20, 10), look(30, 9), look(40, 4), look(50, 10)]).toEqual([
      ...[0, 10, 20, 0, 10],
    ]);
  });
});
