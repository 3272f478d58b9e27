import { allOf } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { failure, held, setUp, silence, waiting, watchOutcome } from '../support/scripted-store.ts';

describe('a try', () => {
  it('answers null when it is refused, and tells who holds', async () => {
    const { store, locks } = setUp();
    store.onClaim = () => ({ state: 'gone', why: 'refused' });
    expect(await locks.mutex('a').tryAcquire()).toBeNull();
    expect(await locks.mutex('a').tryRun(() => 1)).toMatchObject({ acquired: false, holders: [] });
    expect(store.entered.every((claim) => !claim.queue)).toBe(true);
  });

  for (const onInspect of [silence<never>, () => Promise.reject(failure())]) {
    it('that is refused is told apart from a look at the holders that fails', async () => {
      const { clock, store, locks } = setUp();
      store.onInspect = onInspect;
      store.onClaim = () => ({ state: 'gone', why: 'refused' });
      const tried = watchOutcome(locks.mutex('a').tryRun(() => 1));
      await clock.advance(10_000);
      expect(tried.value).toMatchObject({ acquired: false, why: 'held', holders: [] });
    });
  }

  it('refuses `wait`, which it would ignore', () => {
    const { locks, store } = setUp();
    const waits = { wait: 100 } as object;
    const message = /A try never waits: leave out `wait`, or use `run`/;
    expect(() => locks.mutex('a').tryAcquire(waits)).toThrow(message);
    expect(() => locks.mutex('a').tryRun(waits, () => 1)).toThrow(message);
    expect(() => allOf([locks.mutex('a')]).tryAcquire(waits)).toThrow(message);
    expect(store.entered).toEqual([]);
  });

  it('beside a waiter whose place was lost does not take its answer', async () => {
    const { clock, store, locks } = setUp();
    const mutex = locks.mutex('a');
    store.onClaim = () => waiting();
    const waiter = watchOutcome(mutex.acquire());
    await clock.rest();
    store.onRenew = () => ({ state: 'gone', why: 'expired' });
    store.onClaim = (claim) => (claim.queue ? held() : { state: 'gone', why: 'refused' });
    store.wakes.get(store.entered[0]?.id ?? '')?.();
    await clock.rest();
    const tried = watchOutcome(mutex.tryAcquire());
    await clock.advance(100);
    expect(tried).toEqual({ done: true, value: null });
    expect(waiter.value?.held).toBe(true);
    expect(store.entered.map((claim) => claim.queue)).toEqual([true, false, true]);
  });

  it('that is aborted does not pass its refusal to whoever waits behind it', async () => {
    const { clock, store, locks, late } = setUp();
    const mutex = locks.mutex('a');
    const aborter = new AbortController();
    store.onClaim = (claim) => late(50, claim.queue ? held() : { state: 'gone', why: 'refused' });
    const tried = watchOutcome(mutex.tryAcquire({ signal: aborter.signal }));
    const waiter = watchOutcome(mutex.acquire());
    await clock.rest();
    aborter.abort('enough');
    await clock.advance(200);
    expect(tried.error).toBe('enough');
    expect(waiter.value?.held).toBe(true);
  });

  it('that fails does not fail whoever waits behind it', async () => {
    const { clock, store, locks, late } = setUp();
    const mutex = locks.mutex('a');
    store.onClaim = async (claim) => {
      await late(50, undefined);
      if (claim.queue) return held();
      throw failure();
    };
    const tried = watchOutcome(mutex.tryAcquire());
    const waiter = watchOutcome(mutex.acquire());
    await clock.advance(200);
    expect(tried.error).toMatchObject({ code: 'STORE' });
    expect(waiter.value?.held).toBe(true);
  });

  it('while another task of this process holds sends nothing', async () => {
    const { store, locks } = setUp();
    const mutex = locks.mutex('a');
    await mutex.acquire();
    expect(await mutex.tryAcquire()).toBeNull();
    expect(store.entered).toHaveLength(1);
  });

  it('after a stall is not refused because of a lease that has run out unnoticed', async () => {
    const { clock, store, locks } = setUp();
    const mutex = locks.mutex('a');
    const lease = await mutex.acquire();
    clock.stall(60_000);
    const tried = watchOutcome(mutex.tryAcquire());
    await clock.rest();
    expect(tried.value?.held).toBe(true);
    expect(lease.held).toBe(false);
    expect(store.entered).toHaveLength(2);
  });

  it('asks the store beside another try, which has no answer yet', async () => {
    const { clock, store, locks, late } = setUp();
    const mutex = locks.mutex('a');
    store.onClaim = () => late(50, { state: 'gone', why: 'refused' });
    const first = watchOutcome(mutex.tryAcquire());
    await clock.rest();
    const second = watchOutcome(mutex.tryAcquire());
    await clock.rest();
    expect(second.done).toBe(false);
    await clock.advance(200);
    expect([first.value, second.value]).toEqual([null, null]);
    expect(store.entered).toHaveLength(2);
  });

  it('asks the store although a task of this process waits: its place may be lost', async () => {
    const { clock, store, locks } = setUp();
    const mutex = locks.mutex('a');
    store.onClaim = (claim) => (claim.queue ? waiting() : held());
    const waiter = watchOutcome(mutex.acquire());
    await clock.rest();
    expect((await mutex.tryAcquire())?.held).toBe(true);
    expect(waiter.done).toBe(false);
  });
});
