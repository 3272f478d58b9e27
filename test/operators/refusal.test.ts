/** What a web server replies to whom a lock has refused. */
import {
  AcquireTimeoutError,
  ClosedError,
  LeaseLostError,
  QueueFullError,
  refusalOf,
  StoreError,
  type WaitReason,
} from 'holdfast';
import { expect, it } from 'vitest';

const waited = (why: WaitReason, leftMs?: number): AcquireTimeoutError => {
  const absent = { ahead: undefined, limit: undefined, cause: undefined };
  return new AcquireTimeoutError('a', 10, { ...absent, why, holders: [], leftMs, since: 0 });
};

it.each<[string, unknown, object | undefined]>([
  ['taken', waited('held'), { status: 409, retryAfter: 5 }],
  ['not granted, because the store fails', waited('store-away'), { status: 503, retryAfter: 10 }],
  [
    'not granted for a while, because the store has lost its memory',
    waited('data-loss', 12_300),
    { status: 503, retryAfter: 13 },
  ],
  ['waited for by too many', new QueueFullError('a', 'b'), { status: 503, retryAfter: 30 }],
  ['closing', new ClosedError(), { status: 503, retryAfter: 10 }],
  [
    'in a store that is away',
    new StoreError('away', { retryable: true, outcome: 'failed' }),
    { status: 503, retryAfter: 10 },
  ],
  ['lost, when the work may have been done', new LeaseLostError('a', 'expired'), undefined],
  ['no matter of the error', new Error('out of paper'), undefined],
])('the lock is %s', (_, error, refusal) => {
  expect(refusalOf(error)).toEqual(refusal);
});
