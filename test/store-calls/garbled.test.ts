/** A store that answers what the contract does not know: a StoreError, of one claim alone. */
import { evict, type Lease, StoreError } from 'holdfast';
import type { ClaimStatus, Queue } from 'holdfast/store';
import { describe, expect } from 'vitest';
import { checkKept, checkNext, checkQueue } from '../../src/store-calls/replies.ts';
import { held, it, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

const LOUD = new Proxy(
  {},
  {
    get: () => {
      throw new Error('loud');
    },
  },
);

const NONSENSE: readonly unknown[] = [
  ...[undefined, null, 5, 'held', {}, [], LOUD, { state: 'maybe' }, { state: 'held' }],
  ...[Number.NaN, -1, Number.POSITIVE_INFINITY, 2 ** 31, '5'].map((leftMs) => ({
    ...held(),
    leftMs,
  })),
  ...[5, '5', undefined, -1n].map((token) => ({ ...held(), token })),
  ...[null, { reason: 'x', token: 1n }, { reason: 'expired', token: 1 }].map((takeover) => ({
    ...held(),
    takeover,
  })),
  { ...held(), waiters: Number.NaN },
  { ...waiting(), retryInMs: Number.NaN },
  { state: 'gone', why: 'because' },
  { state: 'gone', why: 'mismatch', detail: Symbol('s') },
  { state: 'error', error: 'text' },
];

const REJECTIONS: readonly unknown[] = [undefined, Object.create(null), Symbol('s'), LOUD];

describe('an answer that is none', () => {
  it('to a claim fails that claim alone', async () => {
    // A promise cannot even be fulfilled with the loud one: there, the whole request fails.
    for (const nonsense of NONSENSE.filter((each) => each !== LOUD)) {
      const { clock, store, locks } = setUp();
      store.onClaim = ({ resource }) => (resource === 'a' ? (nonsense as ClaimStatus) : held());
      const bad = watchOutcome(locks.mutex('a').tryAcquire());
      const good = watchOutcome(locks.mutex('b').tryAcquire());
      await clock.rest();
      expect(bad.error).toMatchObject({ code: 'STORE' });
      expect(good.value?.held).toBe(true);
    }
  });

  it('to a heartbeat confirms nothing', async () => {
    for (const nonsense of NONSENSE) {
      const { clock, store, locks } = setUp();
      const lease = await locks.mutex('a').acquire();
      store.onRenew = () => nonsense as ClaimStatus;
      const renewed = watchOutcome(lease.renew());
      await clock.advance(5_000);
      expect([lease.state, renewed.error]).toMatchObject(['unconfirmed', { code: 'STORE' }]);
      expect(lease.remainingMs).toBeLessThan(5_000);
      await clock.advance(6_000);
      expect(lease.loss).toMatchObject({ reason: 'expired' });
    }
  });

  it('as a hint grants nothing and only makes core ask', async () => {
    for (const nonsense of NONSENSE) {
      const { clock, store, locks } = setUp();
      store.onClaim = () => waiting();
      store.onRenew = () => waiting();
      const outcome = watchOutcome(locks.mutex('a').acquire());
      await clock.rest();
      for (const wake of store.wakes.values()) wake(nonsense as ClaimStatus);
      await clock.rest();
      expect([outcome.done, store.sent('renew').length]).toEqual([false, 1]);
    }
  });

  it('of a wrong length fails the whole batch, and a release is repeated', async ({ bed }) => {
    const { claim, release } = bed.store;
    bed.store.claim = async (claims) => (await claim.call(bed.store, claims)).slice(1);
    const outcomes = ['a', 'b'].map((name) => watchOutcome(bed.locks.mutex(name).tryAcquire()));
    await bed.clock.advance(100);
    for (const { error } of outcomes) expect(error).toMatchObject({ code: 'STORE' });
    bed.store.claim = claim;
    const lease = (await bed.locks.mutex('c').tryAcquire()) as Lease;
    const before = bed.store.sent('release').length;
    bed.store.release = async (claims) => {
      bed.store.release = release;
      return (await release.call(bed.store, claims)).slice(1);
    };
    await lease.release();
    await bed.clock.advance(100);
    expect(bed.store.sent('release').length - before).toBe(2);
  });

  it('that says to ask again in the past is not asked without end', async ({ bed }) => {
    bed.store.onClaim = () => waiting({ retryInMs: -5 });
    bed.store.onRenew = () => waiting({ retryInMs: -5 });
    void bed.locks.mutex('a').acquire();
    await bed.clock.advance(10);
    expect(bed.store.sent('renew')).toHaveLength(10);
  });

  it('that lets a try wait fails it', async ({ bed }) => {
    bed.store.onClaim = () => waiting();
    const outcome = watchOutcome(bed.locks.mutex('a').tryAcquire());
    await bed.clock.rest();
    expect(outcome.error).toMatchObject({ code: 'STORE' });
  });

  it('to a question is a StoreError, and a wait still times out', async ({ bed }) => {
    for (const holders of [undefined, [{}], [{ number: 1, holder: {} }], [{ number: 1n }]]) {
      bed.store.onInspect = async () => ({ holders: holders as never, waiters: [] });
      const looked = watchOutcome(bed.locks.inspect('a'));
      bed.store.onClaim = () => waiting();
      const waited = watchOutcome(bed.locks.mutex('a').acquire({ wait: 10 }));
      await bed.clock.advance(300);
      expect(looked.error).toMatchObject({ code: 'STORE' });
      expect(waited.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', holders: [] });
    }
    bed.store.onEvict = async () => 'yes' as never;
    const evicted = watchOutcome(evict(bed.locks, 'a', { token: 1n, reason: 'test' }));
    await bed.clock.rest();
    expect(evicted.error).toMatchObject({ code: 'STORE' });
  });
});

it('a member of a queue has a number, and a holder with a host, a pid and perhaps a label', () => {
  const holder = { host: 'a', pid: 1 };
  const queueOf = (over: object, number: unknown = 1n): Queue =>
    ({ holders: [], waiters: [{ number, holder: { ...holder, ...over } }] }) as never;
  expect(checkQueue(queueOf({ label: 'b' }))).toEqual(queueOf({ label: 'b' }));
  const strange = [
    queueOf({ host: 5 }),
    queueOf({ pid: '1' }),
    queueOf({ label: 5 }),
    queueOf({}, 1),
  ];
  for (const queue of strange) {
    expect(() => checkQueue(queue)).toThrow(/^The store returned an invalid answer: \{/);
  }
});

it('a name, and what is kept, is text', () => {
  for (const kept of [{ text: 5, leftMs: 1 }, { text: '5', leftMs: '1' }, { leftMs: 1 }, {}]) {
    expect(() => checkKept(kept as never)).toThrow(StoreError);
  }
  expect(checkKept({ text: '5', leftMs: 1 })).toEqual({ text: '5', leftMs: 1 });
  expect(checkKept(undefined)).toBeUndefined();
  expect(() => checkNext({ done: false, value: 5 as never })).toThrow(StoreError);
  expect(checkNext({ done: true, value: undefined })).toEqual({ done: true, value: undefined });
});

describe('a store that', () => {
  it('rejects with anything at all fails with a StoreError', async () => {
    for (const reason of REJECTIONS) {
      const { clock, store, locks } = setUp();
      store.onClaim = () => Promise.reject(reason);
      store.close = () => Promise.reject(reason);
      const outcome = watchOutcome(locks.mutex('a').tryAcquire());
      await clock.rest();
      expect(outcome.error).toMatchObject({ code: 'STORE' });
      const closed = watchOutcome(locks.close());
      await clock.advance(20_000);
      expect(closed.error).toMatchObject({ code: 'STORE' });
    }
  });

  it('throws at once, or answers without a promise, leaves no timer behind', async ({ bed }) => {
    const shout = (): never => {
      throw new Error('at once');
    };
    for (const claim of [shout, () => [held()] as never]) {
      bed.store.claim = claim;
      const outcome = watchOutcome(bed.locks.mutex('a').tryAcquire());
      await bed.clock.rest();
      if (claim === shout) expect(outcome.error).toMatchObject({ code: 'STORE' });
      else expect(outcome.value?.held).toBe(true);
      await outcome.value?.release();
    }
    bed.store.inspect = shout;
    bed.store.evict = shout;
    const asked = [bed.locks.inspect('a'), evict(bed.locks, 'a', { token: 1n, reason: 'test' })];
    const outcomes = asked.map((answer) => watchOutcome<unknown>(answer));
    await bed.clock.advance(100);
    for (const { error } of outcomes) expect(error).toMatchObject({ code: 'STORE' });
    await Promise.all([bed.locks.close({ drain: 0 }), bed.clock.advance(20_000)]);
    expect(bed.clock.timers).toBe(0);
  });

  it('cannot say its lineage grants leases that no fence takes', async () => {
    for (const get of [() => undefined, () => Reflect.get(LOUD, 'lineage')]) {
      const { clock, store, locks } = setUp();
      Object.defineProperty(store, 'lineage', { get });
      const outcome = watchOutcome(locks.mutex('a').acquire());
      await clock.rest();
      expect(outcome.value).toMatchObject({ lineage: '' });
    }
  });

  it('watches badly is one whose hints are lost', async () => {
    const watches: (() => unknown)[] = [
      () => {
        throw new Error('at once');
      },
      () => Promise.reject(undefined),
      () => undefined,
      async () => ({}),
      async () => ({ [Symbol.asyncDispose]: () => 5 }),
      async () => ({ [Symbol.asyncDispose]: () => Promise.reject(new Error('later')) }),
    ];
    for (const watch of watches) {
      const { clock, store, locks } = setUp();
      store.watch = watch as typeof store.watch;
      const ran = watchOutcome(locks.mutex('a').run(() => 1));
      await clock.rest();
      expect(ran.value).toBe(1);
    }
  });

  it('keeps no queue and lost an answer confirms a minHold by heartbeat', async () => {
    const { clock, store, locks } = setUp({ queue: false, synchronous: true });
    store.onClaim = () => held({ leftMs: 5_000 });
    const outcome = watchOutcome(locks.mutex('a', { minHold: 6_000 }).acquire());
    await clock.advance(1);
    expect(outcome.value?.held).toBe(true);
    expect(store.sent('claim')).toHaveLength(1);
  });
});
