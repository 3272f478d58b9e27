/** `ifBusy`: only the newest of several requests matters. */
import { allOf } from 'holdfast';
import { type GoneReason, REPLACEABLE } from 'holdfast/store';
import { describe, expect, it } from 'vitest';
import { type Bed, held, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

const NEWEST = { ifBusy: 'replace-waiting' } as const;

/** A wait that is replaced, or loses its place otherwise. */
async function lostBy(why: GoneReason, bed: Bed = setUp({ replaces: true })) {
  bed.store.onClaim = () => waiting();
  const outcome = watchOutcome(bed.locks.mutex('a').acquire(NEWEST));
  await bed.clock.rest();
  bed.store.onRenew = () => ({ state: 'gone', why });
  bed.store.wakes.get(bed.store.entered[0]?.id ?? '')?.();
  await bed.clock.advance(1_000);
  return { ...bed, outcome };
}

describe('a claim that replaces others', () => {
  it('has a mark, and is of one task alone', async () => {
    const { clock, store, locks } = setUp({ replaces: true });
    store.onClaim = () => waiting();
    const mutex = locks.mutex('a');
    for (const ifBusy of ['replace-waiting', 'replace', undefined, undefined] as const) {
      watchOutcome(mutex.acquire({ label: 'me', ifBusy }));
    }
    await clock.rest();
    const seen = store.entered.map(({ ifBusy, holder: { mark } }) => [ifBusy, mark]);
    expect(seen).toEqual([
      ['replace-waiting', REPLACEABLE],
      ['replace', REPLACEABLE],
      [undefined, undefined],
    ]);
    expect(new Set(store.entered.map(({ holder }) => holder.label))).toEqual(new Set(['me']));
  });

  it('rejects when it is replaced itself, and an event says so', async () => {
    const bed = setUp({ replaces: true });
    const missed: unknown[] = [];
    bed.locks.on('missed', ({ why }) => missed.push(why));
    const { outcome, store } = await lostBy('replaced', bed);
    expect(outcome.error).toMatchObject({ code: 'LEASE_LOST', reason: 'replaced', resource: 'a' });
    expect(missed).toEqual(['replaced']);
    expect(store.entered).toHaveLength(1);
  });

  it.each([
    ['expired', 'expired'],
    ['unknown', 'expired'],
    ['store-reset', 'store-reset'],
  ] as const)('does not come back when its place is lost: %s', async (why, reason) => {
    const { outcome, store, clock } = await lostBy(why);
    expect(outcome.error).toMatchObject({ code: 'LEASE_LOST', reason });
    await clock.advance(30_000);
    expect(store.entered).toHaveLength(1);
    expect(clock.keepingAlive).toBe(0);
  });

  it('aborts the work under its lease, and run rejects', async () => {
    const { clock, store, locks } = setUp({ replaces: true });
    const ended = new Promise<void>((resolve) => void clock.setTimeout(resolve, 5_000));
    const signals: AbortSignal[] = [];
    const run = watchOutcome(
      locks.mutex('a').run(NEWEST, ({ signal }) => {
        signals.push(signal);
        return ended;
      }),
    );
    store.onRenew = () => ({ state: 'gone', why: 'replaced' });
    await clock.advance(4_000);
    expect(signals[0]?.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'replaced' });
    expect([run.done, store.sent('release').length]).toEqual([false, 0]);
    await clock.advance(1_000);
    expect(run.error).toMatchObject({ code: 'LEASE_LOST', reason: 'replaced' });
    expect(store.sent('release')).toHaveLength(1);
  });

  it('is refused before anything is sent, where the store cannot', async () => {
    const { clock, store, locks } = setUp();
    const outcome = watchOutcome(locks.mutex('a').acquire(NEWEST));
    await clock.rest();
    expect(outcome.error).toMatchObject({ code: 'UNSUPPORTED', trait: 'replaces' });
    expect(store.calls).toEqual([]);
  });

  it('is no try, and no part of several locks', () => {
    const { locks, store } = setUp({ replaces: true });
    store.onClaim = () => held();
    const mutex = locks.mutex('a');
    const message = /A try never waits: leave out `ifBusy`, or use `run`/;
    expect(() => mutex.tryAcquire(NEWEST as object)).toThrow(message);
    expect(() => mutex.tryRun(NEWEST as object, () => 1)).toThrow(message);
    expect(() => allOf([mutex]).acquire(NEWEST)).toThrow('ifBusy is for a single lock.');
    expect(store.calls).toEqual([]);
  });
});
