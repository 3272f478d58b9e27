/** What goes on for whoever comes is not in the asynchronous context of whoever came first. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, currentLease, type Lease, type Timer } from 'holdfast';
import { expect, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { EventLoop } from '../../src/base/event-loop.ts';
import { held, it, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

const context = new AsyncLocalStorage<string>();

const around = (): string => context.getStore() ?? 'nobody';

/** The contexts in which pending timers were set. */
function timersOf(clock: Clock): () => string[] {
  const pending = new Map<Timer, string>();
  const { setTimeout, clearTimeout } = clock;
  const set = vi.spyOn(clock, 'setTimeout').mockImplementation((run, ms) => {
    const by = around();
    const fire = (): void => {
      pending.delete(timer);
      run();
    };
    const timer = setTimeout.call(clock, fire, ms);
    pending.set(timer, by);
    return timer;
  });
  const clear = vi.spyOn(clock, 'clearTimeout').mockImplementation((timer) => {
    pending.delete(timer);
    clearTimeout.call(clock, timer);
  });
  onTestFinished(() => {
    set.mockRestore();
    clear.mockRestore();
  });
  return () => [...pending.values()];
}

it('the first request is in the context of its caller', async ({ clock, store, locks }) => {
  const seen: string[] = [];
  store.onClaim = ({ resource }) => {
    seen.push(`${resource} by ${around()}`);
    return held();
  };
  void context.run('one', () => locks.mutex('a').acquire());
  await clock.rest();
  void context.run('two', () => locks.mutex('b').acquire());
  await clock.rest();
  expect(seen).toEqual(['a by one', 'b by two']);
});

it('heartbeats are nobody’s, and what is left behind remembers nobody', async ({ bed }) => {
  const timers = timersOf(bed.clock);
  const seen: string[] = [];
  bed.store.onRenew = () => {
    seen.push(around());
    return held();
  };
  const lock = bed.locks.mutex('a');
  const lease = context.run('holder', () => lock.acquire());
  const wait = watchOutcome(context.run('waiter', () => lock.acquire({ wait: 1_000 })));
  await bed.clock.advance(7_000);
  expect(wait.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
  expect(seen).toEqual(['nobody', 'nobody']);
  // The next heartbeat, the next look at slow waits, and what keeps a process alive that waits.
  expect(timers()).toEqual(['nobody', 'nobody', 'nobody']);
  await Promise.all([lease.then(({ release }) => release()), bed.clock.rest()]);
});

it('batches behind the first are nobody’s, however long the lane is busy', async ({ bed }) => {
  const seen: string[] = [];
  bed.store.onClaim = ({ resource }) => {
    seen.push(`${resource} by ${around()}`);
    if (resource === 'a') context.run('two', () => void bed.locks.mutex('b').acquire());
    return held();
  };
  void context.run('one', () => bed.locks.mutex('a').acquire());
  await bed.clock.rest();
  expect(seen).toEqual(['a by one', 'b by nobody']);
});

it('what a hint makes us ask is not of whoever opened the connection', async () => {
  const { clock, store, locks } = setUp({ hintsGrant: false });
  store.onClaim = () => waiting();
  const seen: string[] = [];
  store.onRenew = () => {
    seen.push(around());
    return held();
  };
  const acquired = watchOutcome(context.run('waiter', () => locks.mutex('a').acquire()));
  await clock.rest();
  const [wake] = store.wakes.values();
  context.run('who opened it', () => wake?.());
  await clock.rest();
  expect(acquired.done).toBe(true);
  expect(seen).toEqual(['nobody']);
});

for (const found of ['a read', 'a heartbeat'] as const) {
  it(`a loss that ${found} finds is told in the context of nobody`, async ({ bed }) => {
    const seen: string[] = [];
    const lease = await context.run('holder', () => bed.locks.mutex('a').acquire());
    bed.locks.on('lost', () => seen.push(around()));
    bed.store.onRenew = () => ({ state: 'gone', why: 'evicted' });
    if (found === 'a read') bed.clock.stall(20_000);
    expect(context.run('reader', () => lease.held)).toBe(found === 'a heartbeat');
    await bed.clock.advance(3_400);
    expect(seen).toEqual(['nobody']);
  });
}

it('work is in the context of its caller, whoever passes the lock on', async ({ clock, locks }) => {
  const lock = locks.mutex('a');
  const seen: unknown[] = [];
  const work = (lease: Lease): void => void seen.push([around(), currentLease() === lease]);
  for (const who of ['one', 'two']) void context.run(who, () => lock.run(work));
  await clock.rest();
  expect(seen).toEqual([
    ['one', true],
    ['two', true],
  ]);
});

it('has time for what can be left out a hundred times a second', () => {
  let now = 0;
  const loop = new EventLoop({ ...systemClock(), now: () => now });
  const spared = (): number =>
    Array.from({ length: 20 }, () => loop.spare()).filter(Boolean).length;
  expect(spared()).toBe(9);
  now = 25;
  expect(spared()).toBe(2);
  now = 1000;
  expect(spared()).toBe(9);
});
