import { runInNewContext } from 'node:vm';
import * as holdfast from 'holdfast';
import { RefreshError } from 'holdfast/refresh';
import { describe, expect, it } from 'vitest';
import { isError, messageOf } from '../../src/base/errors.ts';
import { permanentFailure, temporaryFailure } from '../../src/contract/errors.ts';

const { isLockError, LockError, StoreError } = holdfast;

const HOLDER = { host: 'host', pid: 1, since: 0 };

const WAITING = {
  why: 'held',
  holders: [],
  ahead: undefined,
  limit: undefined,
  leftMs: undefined,
  since: 0,
  cause: undefined,
} as const;

const ERRORS = [
  [new holdfast.AcquireTimeoutError('a', 5, WAITING), 'ACQUIRE_TIMEOUT'],
  [new holdfast.LeaseLostError('a', 'expired'), 'LEASE_LOST'],
  [new holdfast.StaleTokenError('a', 1n, 2n), 'STALE_TOKEN'],
  [new holdfast.FenceHeadersError('missing', 'none'), 'FENCE_HEADERS'],
  [new holdfast.MismatchError('a', 'odd'), 'MISMATCH'],
  [new holdfast.ConflictError('again'), 'CONFLICT'],
  [new holdfast.DeadlockError('a', 'odd'), 'DEADLOCK'],
  [new holdfast.QueueFullError('a', 'full'), 'QUEUE_FULL'],
  [new RefreshError('a', { by: HOLDER, retryInMs: 5 }), 'REFRESH'],
  [new holdfast.ClosedError(), 'CLOSED'],
  [new StoreError('down', { retryable: true, outcome: 'failed' }), 'STORE'],
  [new holdfast.TransactionError('no', { reason: 'deadlock', retryable: true }), 'TRANSACTION'],
  [new holdfast.UnsupportedError('list', 'no list'), 'UNSUPPORTED'],
  [new holdfast.UsageError('bad'), 'USAGE'],
] as const;

describe('errors', () => {
  for (const [error, code] of ERRORS) {
    it(`have a code, a name and a message: ${code}`, () => {
      expect(error).toBeInstanceOf(LockError);
      expect(error.code).toBe(code);
      expect(error.name).toBe(error.constructor.name);
      expect(error.message).toMatch(/\S/);
      expect([isLockError(error), isLockError(error, code)]).toEqual([true, true]);
      expect(isLockError(error, code === 'USAGE' ? 'STORE' : 'USAGE')).toBe(false);
      expect('cause' in error, 'no cause unless there is one').toBe(false);
    });
  }

  it('of others are not taken for ours', () => {
    const fakes = [new Error('a'), { code: 'USAGE' }, null, undefined, 'USAGE', 5, () => {}];
    for (const fake of fakes) expect(isLockError(fake)).toBe(false);
  });

  it('say what an operator needs, and cut long names', () => {
    const said = (code: string): string =>
      ERRORS.find(([error]) => error.code === code)?.[0].message ?? '';
    expect(said('MISMATCH')).toBe('"a" is in use as another kind of lock: odd.');
    expect(said('DEADLOCK')).toBe('Waiting for "a" would never end: odd.');
    expect(said('QUEUE_FULL')).toBe('The queue of "a" is full: full.');
    const lost = new holdfast.LeaseLostError('x'.repeat(500), 'stalled', { cause: new Error('c') });
    expect(lost.message).toMatch(/x{10}.*stood still/);
    expect(lost.message.length).toBeLessThan(200);
    expect(lost.resource).toHaveLength(500);
    expect(lost.cause).toBeInstanceOf(Error);
  });

  it('of any realm are known by their name and message', () => {
    const strange = [null, undefined, 5, 'text', {}, { name: 'A' }, { message: 'b' }];
    for (const value of strange) expect(isError(value)).toBe(false);
    const foreign: unknown = runInNewContext("new TypeError('far')");
    expect(foreign).not.toBeInstanceOf(Error);
    expect([isError(foreign), messageOf(foreign)]).toEqual([true, 'far']);
    expect([messageOf('text'), messageOf(5), messageOf(null)]).toEqual(['text', '5', 'null']);
    const unreadable = new Proxy({}, { get: () => runInNewContext("throw new Error('no')") });
    expect(messageOf(unreadable)).toBe('{}');
    const wire = permanentFailure('down', new Error('wire'));
    expect(JSON.parse(JSON.stringify(wire))).toMatchObject({ message: 'down', cause: 'wire' });
  });

  it('of a store that certainly did nothing say whether to try again', () => {
    const [cause, outcome] = ['wire', 'failed'];
    const some = { message: 'no', cause, outcome, code: 'STORE' };
    expect(temporaryFailure('no', cause)).toMatchObject({ ...some, retryable: true });
    expect(permanentFailure('no', cause)).toMatchObject({ ...some, retryable: false });
  });
});
