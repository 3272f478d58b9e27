/** What a free lock makes in this process beside its requests. */
import { createHook } from 'node:async_hooks';
import type { Store } from 'holdfast';
import { expect } from 'vitest';
import { Answer } from '../../../src/base/answer.ts';
import { claimOf } from './bed.ts';

/** Limits of requests are seconds; what a store does a little later waits for less, in ms. */
const LIMIT_MS = 100;

const PAIRS = 200;

/** A free lock makes no promise, and no timer for a request. */
export async function expectNoCost(store: Store): Promise<void> {
  // Then the connection is there, and what the store keeps beside it: a lease, or a queue.
  await costOfPairs(store, 5);
  const { promises, timers } = await costOfPairs(store, PAIRS);
  // Others in this process make some.
  expect(promises).toBeLessThan(PAIRS / 2);
  expect(timers).toBeLessThan(PAIRS / 2);
}

/**
 * What so many claims and releases make, one after another, by the count of Node: promises, and
 * timers for as long as the limit of a request. They are heard without a promise, as core does.
 */
async function costOfPairs(store: Store, pairs: number) {
  const made = new Map<string, number>();
  const hook = createHook({
    init: (_, type, __, { _idleTimeout = LIMIT_MS }: { _idleTimeout?: number }) => {
      if (_idleTimeout >= LIMIT_MS) made.set(type, (made.get(type) ?? 0) + 1);
    },
  });
  const over = new Answer<void>();
  const next = (left: number): void => {
    if (left === 0) return over.settle();
    const claim = claimOf('a');
    const released = Answer.from(store.claim([claim])).chain(([status]) => {
      if (status?.state !== 'held') throw new Error(`it is ${status?.state}`);
      return store.release([claim]);
    });
    released.on({ settle: () => next(left - 1), fail: (error) => over.fail(error) });
  };
  hook.enable();
  next(pairs);
  await over;
  hook.disable();
  return { promises: made.get('PROMISE') ?? 0, timers: made.get('Timeout') ?? 0 };
}
