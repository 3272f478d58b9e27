import { allOf } from 'holdfast';
import { describe, expect } from 'vitest';
import { failure, held, it, silence, waiting, watchOutcome } from '../support/scripted-store.ts';

describe('a try', () => {
  it('answers null when it is refused, and tells who holds', async ({ store, locks }) => {
    store.onClaim = () => ({ state: 'gone', why: 'refused' });
    expect(await locks.mutex('a').tryAcquire()).toBeNull();
    expect(await locks.mutex('a').tryRun(() => 1)).toMatchObject({ acquired: false, holders: [] });
    expect(store.entered.every((claim) => !claim.queue)).toBe(true);
  });

  for (const onInspect of [silence<never>, () => Promise.reject(failure())]) {
    it('that is refused is told apart from a look at the holders that fails', async ({ bed }) => {
      bed.store.onInspect = onInspect;
      bed.store.onClaim = () => ({ state: 'gone', why: 'refused' });
      const tried = watchOutcome(bed.locks.mutex('a').tryRun(() => 1));
      await bed.clock.advance(10_000);
      expect(tried.value).toMatchObject({ acquired: false, why: 'held', holders: [] });
    });
  }

  it('refuses `wait`, which it would ignore', ({ bed }) => {
    const waits = { wait: 100 } as object;
    const message = /A try never waits: leave out `wait`, or use `run`/;
    expect(() => bed.locks.mutex('a').tryAcquire(waits)).toThrow(message);
    expect(() => bed.locks.mutex('a').tryRun(waits, () => 1)).toThrow(message);
    expect(() => allOf([bed.locks.mutex('a')]).tryAcquire(waits)).toThrow(message);
    expect(bed.store.entered).toEqual([]);
  });

  it('is refused what the store cannot grant, by its name', async ({ store, locks }) => {
    Object.assign(store.traits, { permits: false });
    const told = expect.stringMatching(/ admits one holder at a time, so not readers\.$/);
    const tried = locks.rwLock('rw').read.tryAcquire();
    await expect(tried).rejects.toMatchObject({ code: 'UNSUPPORTED', message: told });
    const some = locks.semaphore('s', { limit: 3 }).tryAcquire();
    await expect(some).rejects.toThrow(/ admits one holder at a time, so not 1 of 3 permits\.$/);
    expect(store.calls).toEqual([]);
  });

  it('beside a waiter whose place was lost does not take its answer', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    bed.store.onClaim = () => waiting();
    const waiter = watchOutcome(mutex.acquire());
    await bed.clock.rest();
    bed.store.onRenew = () => ({ state: 'gone', why: 'expired' });
    bed.store.onClaim = (claim) => (claim.queue ? held() : { state: 'gone', why: 'refused' });
    bed.store.wakes.get(bed.store.entered[0]?.id ?? '')?.();
    await bed.clock.rest();
    const tried = watchOutcome(mutex.tryAcquire());
    await bed.clock.advance(100);
    expect(tried).toEqual({ done: true, value: null });
    expect(waiter.value?.held).toBe(true);
    expect(bed.store.entered.map((claim) => claim.queue)).toEqual([true, false, true]);
  });

  it('that is aborted does not pass its refusal to whoever waits behind it', async ({ bed }) => {
    const { clock, store, locks, late } = bed;
    const mutex = locks.mutex('a');
    const aborter = new AbortController();
    store.onClaim = (claim) => late(50, claim.queue ? held() : { state: 'gone', why: 'refused' });
    const tried = watchOutcome(mutex.tryAcquire({ signal: aborter.signal }));
    const waiter = watchOutcome(mutex.acquire());
    await clock.rest();
    aborter.abort('enough');
    await clock.advance(200);
    expect([tried.error, waiter.value?.held]).toEqual(['enough', true]);
  });

  it('that fails does not fail whoever waits behind it', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    bed.store.onClaim = async (claim) => {
      await bed.late(50, undefined);
      if (claim.queue) return held();
      throw failure();
    };
    const tried = watchOutcome(mutex.tryAcquire());
    const waiter = watchOutcome(mutex.acquire());
    await bed.clock.advance(200);
    expect(tried.error).toMatchObject({ code: 'STORE' });
    expect(waiter.value?.held).toBe(true);
  });

  it('while another task of this process holds sends nothing', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    await mutex.acquire();
    expect(await mutex.tryAcquire()).toBeNull();
    expect(bed.store.entered).toHaveLength(1);
  });

  it('after a stall is not refused for a lease that has run out unnoticed', async ({ bed }) => {
    const { clock, store, locks } = bed;
    const mutex = locks.mutex('a');
    const lease = await mutex.acquire();
    clock.stall(60_000);
    const tried = watchOutcome(mutex.tryAcquire());
    await clock.rest();
    expect([tried.value?.held, lease.held]).toEqual([true, false]);
    expect(store.entered).toHaveLength(2);
  });

  it('asks the store beside another try, which has no answer yet', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    bed.store.onClaim = () => bed.late(50, { state: 'gone', why: 'refused' });
    const first = watchOutcome(mutex.tryAcquire());
    await bed.clock.rest();
    const second = watchOutcome(mutex.tryAcquire());
    await bed.clock.rest();
    expect(second.done).toBe(false);
    await bed.clock.advance(200);
    expect([first.value, second.value]).toEqual([null, null]);
    expect(bed.store.entered).toHaveLength(2);
  });

  it('asks the store although a task here waits: its place may be lost', async ({ bed }) => {
    const { clock, store, locks } = bed;
    const mutex = locks.mutex('a');
    store.onClaim = (claim) => (claim.queue ? waiting() : held());
    const waiter = watchOutcome(mutex.acquire());
    await clock.rest();
    expect((await mutex.tryAcquire())?.held).toBe(true);
    expect(waiter.done).toBe(false);
  });
});
