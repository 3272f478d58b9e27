import { channel } from 'node:diagnostics_channel';
import type { LockEventName, Locks, StoreError } from 'holdfast';
import { afterEach, describe, expect, vi } from 'vitest';
import { Events } from '../../src/core/events.ts';
import { failure, it, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

afterEach(() => vi.restoreAllMocks());

type Ending = 'acquired' | 'released';

/** The ways to listen; each returns the way to stop. */
const WAYS = {
  listener: (locks: Locks, name: Ending, hear: () => void) => locks.on(name, hear),
  subscriber: (_: Locks, name: Ending, hear: () => void) => {
    const source = channel(`holdfast:${name}`);
    source.subscribe(hear);
    return () => source.unsubscribe(hear);
  },
};

describe('events', () => {
  it('tell of a life from acquired to released, with token and takeover', async () => {
    const { clock, store, locks } = setUp({}, { prefix: 'shop:' });
    const seen: unknown[] = [];
    for (const name of ['acquired', 'released', 'lost'] as const) {
      locks.on(name, (event) => seen.push([name, event]));
    }
    const takeover = { reason: 'expired', token: 1n } as const;
    store.onClaim = () => ({ state: 'held', token: 2n, leftMs: 10_000, waiters: 0, takeover });
    await Promise.all([locks.mutex('a').run(() => 1), clock.rest()]);
    const acquisition = { resource: 'shop:a', kind: 'mutex', permits: 1, store: 'scripted' };
    const event = { resource: 'shop:a', kind: 'mutex', token: 2048n, acquisition };
    expect(seen).toEqual([
      ['acquired', { ...event, takeover: { reason: 'expired', token: 1024n } }],
      ['released', event],
    ]);
  });

  it('reach every listener, though one throws, and those that stopped no more', async ({ bed }) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    let heard = 0;
    bed.locks.on('acquired', () => {
      throw new Error('mine');
    });
    bed.locks.on('acquired', () => {
      throw Object.create(null);
    });
    const stop = bed.locks.on('acquired', () => heard++);
    const ran = watchOutcome(bed.locks.mutex('a').run(() => 'fine'));
    await bed.clock.rest();
    expect([ran.value, heard, warned.mock.calls.length]).toEqual(['fine', 1, 2]);
    stop();
    stop();
    await Promise.all([bed.locks.mutex('a').run(() => 1), bed.clock.rest()]);
    expect(heard).toBe(1);
  });

  for (const [what, listen] of Object.entries(WAYS)) {
    it(`reach a ${what} that comes after the call, and none that has gone`, async ({ bed }) => {
      const seen: string[] = [];
      const hear = (name: Ending) => listen(bed.locks, name, () => void seen.push(name));
      bed.store.onClaim = () => bed.late(100, heldFor(10_000));
      const acquired = bed.locks.mutex('a').acquire();
      await bed.clock.advance(50);
      const stops = [hear('acquired')];
      await bed.clock.advance(50);
      const { release } = await acquired;
      stops.push(hear('released'));
      await Promise.all([release(), bed.clock.rest()]);
      for (const stop of stops) stop();
      await Promise.all([bed.locks.mutex('a').run(() => 1), bed.clock.advance(100)]);
      expect(seen).toEqual(['acquired', 'released']);
    });
  }

  it('do not call a lease doubtful that is lost by then', async ({ clock, store, locks }) => {
    const seen: string[] = [];
    for (const name of ['unconfirmed', 'lost'] as const) locks.on(name, () => seen.push(name));
    void locks.mutex('a').acquire();
    await clock.rest();
    let fail = (_: StoreError): void => {};
    store.onRenew = () => new Promise((_, reject) => (fail = reject));
    await clock.advance(3_400);
    clock.stall(20_000);
    fail(failure());
    await clock.rest();
    expect(seen).toEqual(['lost']);
  });

  it('may be listened to by whoever releases, acquires or closes in the listener', async () => {
    const { clock, locks } = setUp();
    const mutex = locks.mutex('a');
    const outcomes: { done: boolean }[] = [];
    let depth = 0;
    for (const name of ['acquired', 'released', 'lost'] as const) {
      locks.on(name, () => {
        if (depth++ < 20) outcomes.push(watchOutcome(mutex.run(() => clock.stall(3_000))));
      });
    }
    outcomes.push(watchOutcome(mutex.run(() => 1)));
    await clock.advance(60_000);
    expect(outcomes.every(({ done }) => done)).toBe(true);
    expect(outcomes.length).toBeGreaterThan(20);
  });

  it('cost nothing when nobody listens: none is made', async ({ clock, store, locks }) => {
    const emitted = vi.spyOn(Events.prototype, 'emit');
    store.onClaim = (claim) => (claim.resource === 'wait' ? waiting() : heldFor(claim.ttlMs));
    await Promise.all([locks.mutex('a').run(() => 1), clock.rest()]);
    const waiter = watchOutcome(locks.mutex('wait').acquire({ wait: '40s' }));
    await clock.advance(41_000);
    expect(waiter.done).toBe(true);
    expect(emitted).not.toHaveBeenCalled();
  });

  it('exist by these names only', ({ locks }) => {
    const names: LockEventName[] = [
      ...(['acquiring', 'missed', 'acquired', 'working', 'waiting', 'slow'] as const),
      ...(['unconfirmed', 'lost', 'released', 'heartbeat', 'mismatch', 'quarantine'] as const),
    ];
    for (const name of names) locks.on(name, () => {})();
    expect(() => locks.on('toString' as never, () => {})).toThrow(
      /acquired, working, waiting, slow/,
    );
  });

  it('tell when programs disagree about the limit or the kind', async ({ clock, store, locks }) => {
    const seen: unknown[] = [];
    locks.on('mismatch', ({ resource, kind, detail }) => seen.push([resource, kind, detail]));
    store.onClaim = () => ({ ...heldFor(10_000), limit: 3 });
    await locks.semaphore('s', { limit: 5 }).acquire();
    store.onClaim = store.onRenew = () => waiting({ limit: 4 });
    void locks.semaphore('s', { limit: 5 }).acquire();
    await clock.advance(7_000);
    store.onClaim = () => ({
      state: 'gone',
      why: 'mismatch',
      detail: 'its queue holds read claims',
    });
    const refused = watchOutcome(locks.mutex('m').acquire());
    await clock.rest();
    expect(refused.error).toMatchObject({ code: 'MISMATCH', resource: 'm' });
    const tried = watchOutcome(locks.mutex('m').tryAcquire());
    await clock.rest();
    expect(tried.error).toMatchObject({ code: 'MISMATCH', resource: 'm' });
    const mismatch = ['m', 'mutex', 'its queue holds read claims'];
    const limits = [3, 4].map((most) => ['s', 'permits', `the limit in force is ${most}, not 5`]);
    expect(seen).toEqual([...limits, mismatch, mismatch]);
  });
});

function heldFor(leftMs: number) {
  return { state: 'held', token: 1n, leftMs, waiters: 0 } as const;
}
