/** `ifBusy`: only the newest of several requests matters. */
import { allOf, type Member } from 'holdfast';
import type { Eviction, GoneReason, GoneStatus } from 'holdfast/store';
import { describe, expect } from 'vitest';
import { REPLACED } from '../../src/core/errors.ts';
import type { Bed } from '../support/scripted-store.ts';
import { failure, held, it, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

const NEWEST = { ifBusy: 'replace-waiting' } as const;
const REPLACES = { replaces: true } as const;
const GONE: GoneStatus = { state: 'gone', why: 'evicted', detail: REPLACED };

function memberOf(number: bigint, mark?: string): Member {
  const holder = { host: 'h', pid: 1, since: 0, ...(mark !== undefined && { mark }) };
  return { number, kind: 'mutex', permits: 1, ttlMs: 10_000, leftMs: 10_000, holder };
}

/** A queue with marked and other claims, the last to come behind two of them, and one behind it. */
function crowded(bed: Bed) {
  const evicted: (readonly [number: bigint, eviction: Eviction])[] = [];
  bed.store.onClaim = () => waiting();
  bed.store.onRenew = () => waiting();
  bed.store.onInspect = async () => ({
    holders: [memberOf(1n, 'replaceable 1'), memberOf(2n)],
    waiters: [
      ...[memberOf(3n, 'replaceable 3'), memberOf(4n), memberOf(5n, 'replaceable 5')],
      ...[memberOf(6n, bed.store.entered[0]?.holder.mark), memberOf(7n, 'replaceable 7')],
    ],
  });
  bed.store.onEvict = async (number, eviction) => {
    evicted.push([number, eviction]);
    return true;
  };
  return evicted;
}

/** A wait that is replaced, or loses its place otherwise. */
async function lostBy(gone: GoneStatus, bed: Bed = setUp(REPLACES)) {
  bed.store.onClaim = () => waiting();
  const outcome = watchOutcome(bed.locks.mutex('a').acquire(NEWEST));
  await bed.clock.rest();
  bed.store.onRenew = () => gone;
  bed.store.wakes.get(bed.store.entered[0]?.id ?? '')?.();
  await bed.clock.advance(1_000);
  return { ...bed, outcome };
}

describe('a claim that replaces others', () => {
  it('has a mark of its own, and is of one task alone', async () => {
    const { clock, store, locks } = setUp(REPLACES);
    store.onClaim = () => waiting();
    const mutex = locks.mutex('a');
    for (const ifBusy of ['replace-waiting', 'replace', undefined, undefined] as const) {
      watchOutcome(mutex.acquire({ label: 'me', ifBusy }));
    }
    await clock.rest();
    const marks = store.entered.map(({ holder: { mark } }) => mark);
    expect(marks).toEqual([
      ...[expect.stringMatching(/^replaceable /), expect.stringMatching(/^replaceable /)],
      undefined,
    ]);
    expect(new Set(marks).size).toBe(3);
    expect(new Set(store.entered.map(({ holder }) => holder.label))).toEqual(new Set(['me']));
  });

  it('asks for nothing more if it holds at once', async () => {
    const { clock, store, locks } = setUp(REPLACES);
    await locks.mutex('a').acquire(NEWEST);
    await clock.rest();
    expect(store.calls.map(({ verb }) => verb)).toEqual(['claim']);
  });

  it.each([
    ['replace-waiting', [3n, 5n]],
    ['replace', [1n, 3n, 5n]],
  ] as const)('with %s ends the marked ones before it, and no others', async (ifBusy, numbers) => {
    const bed = setUp(REPLACES);
    const evicted = crowded(bed);
    watchOutcome(bed.locks.mutex('a').acquire({ ifBusy }));
    await bed.clock.rest();
    expect(evicted.map(([number]) => number)).toEqual(numbers);
    for (const [number, eviction] of evicted) {
      expect(eviction).toEqual({ reason: REPLACED, now: false, waiting: number > 2n });
    }
    await bed.clock.advance(10_000);
    expect(bed.store.sent('inspect')).toHaveLength(1);
  });

  it('looks again where one was admitted meanwhile, and after a failure', async () => {
    const bed = setUp(REPLACES);
    const evicted = crowded(bed);
    const outcomes = [async () => false, () => Promise.reject(failure()), async () => true];
    bed.store.onEvict = async (number, eviction) => {
      evicted.push([number, eviction]);
      if (number !== 5n) return true;
      return outcomes.shift()?.() ?? true;
    };
    watchOutcome(bed.locks.mutex('a').acquire(NEWEST));
    await bed.clock.advance(3_000);
    expect(bed.store.sent('inspect')).toHaveLength(1);
    await bed.clock.advance(4_000);
    expect(evicted.map(([number]) => number)).toEqual([3n, 5n, 3n, 5n, 3n, 5n]);
    expect(bed.store.sent('inspect')).toHaveLength(3);
  });

  it('ends none once it waits no more', async () => {
    const bed = setUp(REPLACES);
    const evicted = crowded(bed);
    bed.store.onInspect = async () => ({ holders: [memberOf(1n, 'replaceable 1')], waiters: [] });
    watchOutcome(bed.locks.mutex('a').acquire({ ifBusy: 'replace' }));
    await bed.clock.advance(10_000);
    expect([evicted, bed.store.sent('inspect').length]).toEqual([[], 1]);
  });

  it('rejects when it is replaced itself, and an event says so', async () => {
    const bed = setUp(REPLACES);
    const missed: unknown[] = [];
    bed.locks.on('missed', ({ why }) => missed.push(why));
    const { outcome, store } = await lostBy(GONE, bed);
    expect(outcome.error).toMatchObject({ code: 'LEASE_LOST', reason: 'replaced', resource: 'a' });
    expect(missed).toEqual(['replaced']);
    expect(store.entered).toHaveLength(1);
  });

  it.each([
    ['expired', 'expired'],
    ['unknown', 'expired'],
    ['store-reset', 'store-reset'],
  ] as const satisfies readonly (readonly [GoneReason, string])[])(
    'does not come back when its place is lost: %s',
    async (why, reason) => {
      const { outcome, store, clock } = await lostBy({ state: 'gone', why });
      expect(outcome.error).toMatchObject({ code: 'LEASE_LOST', reason });
      await clock.advance(30_000);
      expect(store.entered).toHaveLength(1);
      expect(clock.keepingAlive).toBe(0);
    },
  );

  it('aborts the work under its lease, and run rejects', async () => {
    const { clock, store, locks } = setUp(REPLACES);
    const ended = new Promise<void>((resolve) => void clock.setTimeout(resolve, 5_000));
    const signals: AbortSignal[] = [];
    const run = watchOutcome(
      locks.mutex('a').run(NEWEST, ({ signal }) => {
        signals.push(signal);
        return ended;
      }),
    );
    store.onRenew = () => GONE;
    await clock.advance(4_000);
    expect(signals[0]?.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'replaced' });
    expect([run.done, store.sent('release').length]).toEqual([false, 0]);
    await clock.advance(1_000);
    expect(run.error).toMatchObject({ code: 'LEASE_LOST', reason: 'replaced' });
    expect(store.sent('release')).toHaveLength(1);
  });

  it('is refused before anything is sent, where the store cannot', async ({ bed }) => {
    const outcome = watchOutcome(bed.locks.mutex('a').acquire(NEWEST));
    await bed.clock.rest();
    expect(outcome.error).toMatchObject({ code: 'UNSUPPORTED', trait: 'ifBusy' });
    expect(bed.store.calls).toEqual([]);
  });

  it('is no try, and no part of several locks', () => {
    const { locks, store } = setUp(REPLACES);
    store.onClaim = () => held();
    const mutex = locks.mutex('a');
    const message = /A try never waits: leave out `ifBusy`, or use `run`/;
    expect(() => mutex.tryAcquire(NEWEST as object)).toThrow(message);
    expect(() => mutex.tryRun(NEWEST as object, () => 1)).toThrow(message);
    expect(() => allOf([mutex]).acquire(NEWEST)).toThrow('ifBusy is for a single lock.');
    expect(store.calls).toEqual([]);
  });
});
