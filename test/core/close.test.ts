import { allOf, ClosedError, createLocks, evict, type Lease, list } from 'holdfast';
import { createElection } from 'holdfast/election';
import { describe, expect } from 'vitest';
import type { Bed } from '../support/scripted-store.ts';
import { failure, held, it, silence, waiting, watchOutcome } from '../support/scripted-store.ts';

/** Work that goes on for this long, whatever its signal says. */
function stubborn(bed: Bed, ms: number): (lease: Pick<Lease, 'signal'>) => Promise<string> {
  return () => new Promise((resolve) => bed.clock.setTimeout(() => resolve('done'), ms));
}

describe('close', () => {
  it('ends waits with ClosedError and takes them out of the queue', async ({ bed }) => {
    bed.store.onClaim = () => waiting();
    const { locks } = bed;
    const waits = [
      ...[locks.mutex('a'), locks.mutex('a'), locks.semaphore('s', { limit: 2 })],
      allOf([locks.mutex('b'), locks.mutex('c')]),
    ].map((lock) => watchOutcome<unknown>(lock.acquire()));
    await bed.clock.rest();
    const closed = watchOutcome(locks.close());
    await bed.clock.rest();
    for (const { error } of waits) expect(error).toMatchObject({ code: 'CLOSED' });
    expect(closed.done).toBe(true);
    const left = bed.store.sent('release').flatMap(({ claims }) => claims.map(({ id }) => id));
    expect(left.sort()).toEqual(bed.store.entered.map(({ id }) => id).sort());
    expect([bed.store.closed, bed.clock.timers]).toEqual([1, 0]);
  });

  it('lets running work finish, and refuses new', async ({ bed }) => {
    const ran = watchOutcome(bed.locks.mutex('a').run(stubborn(bed, 5_000)));
    await bed.clock.rest();
    const closed = watchOutcome(bed.locks.close());
    await bed.clock.advance(4_999);
    expect([ran.done, closed.done]).toEqual([false, false]);
    await bed.clock.advance(1);
    expect([ran.value, closed.done]).toEqual(['done', true]);
    expect(bed.store.calls.map(({ verb }) => verb)).toEqual(['claim', 'renew', 'release']);
  });

  it('takes back a claim that has no answer yet, before it closes the store', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(500, held());
    bed.store.onRelease = () => bed.late(50, true);
    const acquired = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.rest();
    const closed = watchOutcome(bed.locks.close());
    await bed.clock.advance(49);
    expect(acquired.error).toMatchObject({ code: 'CLOSED' });
    expect([closed.done, bed.store.closed]).toEqual([false, 0]);
    await bed.clock.advance(1);
    expect([closed.done, bed.store.closed]).toEqual([true, 1]);
    const left = bed.store.sent('release').flatMap(({ claims }) => claims);
    expect(left).toMatchObject([{ id: bed.store.entered[0]?.id, unanswered: true }]);
    const requests = bed.store.calls.length;
    await bed.clock.advance(60_000);
    expect(bed.store.calls).toHaveLength(requests);
  });

  it('waits for the answer to a release that is under way', async ({ bed }) => {
    bed.store.onRelease = () => bed.late(50, true);
    const lease = await bed.locks.mutex('a').acquire();
    const released = watchOutcome(lease.release());
    await bed.clock.rest();
    const closed = watchOutcome(bed.locks.close());
    await bed.clock.advance(49);
    expect([released.done, closed.done, bed.store.closed]).toEqual([false, false, 0]);
    await bed.clock.advance(1);
    expect([released.done, closed.done, bed.store.closed]).toEqual([true, true, 1]);
  });

  it('aborts signals after `drain`, and releases what settles then', async ({ bed }) => {
    const { locks, clock, store } = bed;
    const obedient = watchOutcome(
      locks.mutex('a').run(
        ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
      ),
    );
    const deaf = watchOutcome(locks.mutex('b').run(stubborn(bed, 60_000)));
    await clock.rest();
    const closed = watchOutcome(locks.close({ drain: '2s' }));
    await clock.advance(1_999);
    expect([obedient.done, store.closed]).toEqual([false, 0]);
    await clock.advance(1_000);
    expect(closed.done).toBe(true);
    expect(obedient.error).toMatchObject({ code: 'LEASE_LOST', reason: 'closed' });
    const left = store.sent('release').flatMap(({ claims }) => claims);
    expect(
      left.map(({ resource }) => resource),
      'no release under running work',
    ).toEqual(['a']);
    const requests = store.calls.length;
    await clock.advance(60_000);
    expect(deaf.error).toMatchObject({ code: 'LEASE_LOST', reason: 'closed' });
    expect(store.calls).toHaveLength(requests);
  });

  it('is asked once; later calls wait for the same end', async ({ bed }) => {
    const ways = [
      bed.locks.close(),
      bed.locks.close({ drain: 0 }),
      bed.locks[Symbol.asyncDispose](),
    ];
    await bed.clock.rest();
    await Promise.all(ways);
    expect(bed.store.closed).toBe(1);
  });

  it('leaves the store open while other locks use it', async ({ bed }) => {
    const others = createLocks(bed.store, { clock: bed.clock });
    await Promise.all([bed.locks.close(), bed.clock.rest()]);
    expect(bed.store.closed).toBe(0);
    expect((await others.mutex('a').acquire()).held).toBe(true);
    const closed = others.close({ drain: 100 });
    await bed.clock.advance(1_000);
    await closed;
    expect(bed.store.closed).toBe(1);
  });

  it('makes everything else reject with ClosedError, and sends nothing', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    await Promise.all([bed.locks.close(), bed.clock.rest()]);
    const refused = [
      ...[mutex.acquire(), mutex.tryAcquire(), mutex.run(() => 1), mutex.tryRun(() => 1)],
      ...[allOf([mutex]).acquire(), bed.locks.inspect('a'), list(bed.locks).next()],
      evict(bed.locks, 'a', { token: 1n, reason: 'test' }),
      createElection(bed.locks, 'e').standings(),
      createElection(bed.locks, 'e').observe().next(),
      createElection(bed.locks, 'e').campaign()[Symbol.asyncIterator]().next(),
    ];
    for (const promise of refused) await expect(promise).rejects.toBeInstanceOf(ClosedError);
    expect(bed.store.calls).toHaveLength(0);
  });

  it('does not wait for a store that is silent', async ({ locks, clock, store }) => {
    await locks.mutex('a').acquire();
    store.onClaim = store.onRenew = silence;
    store.onRelease = silence;
    const waiter = watchOutcome(locks.mutex('b').acquire());
    await clock.rest();
    const closed = watchOutcome(locks.close({ drain: '1s' }));
    await clock.advance(2_000);
    expect(waiter.error).toMatchObject({ code: 'CLOSED' });
    expect(closed.done).toBe(true);
  });
});

describe('nothing is left', () => {
  it('of a wait that was granted', async ({ clock, locks }) => {
    locks.on('slow', () => {});
    const mutex = locks.mutex('a');
    await Promise.all([mutex.run(() => 1), clock.rest()]);
    const before = clock.timers;
    await Promise.all([mutex.run({ wait: '1h' }, () => 1), clock.rest()]);
    expect([clock.timers, clock.keepingAlive]).toEqual([before, 0]);
  });

  it('after many ways to end: no request, nor a timer that keeps it alive', async ({ bed }) => {
    const { locks, clock, store } = bed;
    const answers = [
      ...[
        () => held(),
        () => waiting(),
        () => bed.late(50, held()),
        () => Promise.reject(failure()),
      ],
      ...[() => ({ state: 'gone', why: 'refused' }) as const, () => bed.late(50, waiting())],
    ];
    let next = 0;
    store.onClaim = () => answers[next++ % answers.length]?.() ?? held();
    store.onRelease = () => (next++ % 3 === 0 ? Promise.reject(failure()) : true);
    const settled: Promise<unknown>[] = [];
    for (let i = 0; i < 60; i++) {
      const signal = AbortSignal.any([]);
      const lock = locks.mutex(`r${i % 7}`, { fair: i % 2 === 0, minHold: i % 5 === 0 ? 50 : 0 });
      settled.push(lock.run({ wait: 100 + i * 10, signal }, () => i).catch(() => {}));
      settled.push(lock.tryRun({}, () => i).catch(() => {}));
    }
    await clock.advance(60_000);
    await Promise.all(settled);
    expect(clock.keepingAlive).toBe(0);
    const requests = store.calls.length;
    await clock.advance(60_000);
    expect(store.calls).toHaveLength(requests);
    await Promise.all([locks.close(), clock.rest()]);
    expect(clock.timers).toBe(0);
  });
});
