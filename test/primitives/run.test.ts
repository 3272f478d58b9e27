import { once } from 'node:events';
import { LeaseLostError } from 'holdfast';
import { describe, expect } from 'vitest';
import { failure, held, it, setUp, silence, watchOutcome } from '../support/scripted-store.ts';

describe('run', () => {
  it('gives what the work gives, and releases afterwards', async ({ clock, store, locks }) => {
    const ran = locks.mutex('a').run({ label: 'job' }, async (lease) => {
      expect(lease.held).toBe(true);
      expect(store.sent('release')).toHaveLength(0);
      return 42;
    });
    await clock.rest();
    expect(await ran).toBe(42);
    expect(store.sent('release')).toHaveLength(1);
    expect(store.entered[0]?.holder).toMatchObject({ label: 'job', pid: process.pid });
  });

  it('settles when the store was told', async ({ clock, store, locks, late }) => {
    store.onRelease = () => late(50, true);
    const ran = watchOutcome(locks.mutex('a').run(() => 1));
    await clock.advance(49);
    expect(ran.done).toBe(false);
    await clock.advance(1);
    expect(ran.value).toBe(1);
  });

  it('waits for what has a `then`, though it is no promise', async ({ clock, locks, late }) => {
    const given = late(50, 5);
    const thenable = Object.defineProperty({}, 'then', { value: given.then.bind(given) });
    const ran = watchOutcome(locks.mutex('a').run(() => thenable as PromiseLike<number>));
    await clock.advance(49);
    expect(ran.done).toBe(false);
    await clock.advance(1);
    expect(ran.value).toBe(5);
  });

  for (const work of ['throws', 'rejects'] as const) {
    it(`rejects with the work's own error when it ${work}, and releases`, async ({ bed }) => {
      const error = new Error('mine');
      const ran = watchOutcome(
        bed.locks.mutex('a').run(() => {
          if (work === 'throws') throw error;
          return Promise.reject(error);
        }),
      );
      await bed.clock.rest();
      expect(ran.error).toBe(error);
      expect(bed.store.sent('release')).toHaveLength(1);
    });
  }

  it('never lets a failed release hide what the work gave', async ({ clock, store, locks }) => {
    store.onRelease = () => Promise.reject(failure({ retryable: false }));
    const error = new Error('mine');
    const good = watchOutcome(locks.mutex('a').run(() => 1));
    const bad = watchOutcome(locks.mutex('b').run(() => Promise.reject(error)));
    await clock.rest();
    expect([good.value, bad.error]).toEqual([1, error]);
  });

  it('rejects with LeaseLostError after a loss, even when the work fulfilled', async ({ bed }) => {
    bed.store.onRenew = silence;
    let settled = false;
    const ran = watchOutcome(
      bed.locks.mutex('a').run(async () => {
        await new Promise<void>((resolve) => bed.clock.setTimeout(resolve, 20_000));
        settled = true;
      }),
    );
    await bed.clock.advance(19_999);
    expect([ran.done, settled], 'settles only after the work has').toEqual([false, false]);
    await bed.clock.advance(1);
    expect(settled).toBe(true);
    expect(ran.error).toMatchObject({ code: 'LEASE_LOST', reason: 'expired', resource: 'a' });
    expect((ran.error as Error).cause, 'of the last heartbeat').toMatchObject({ code: 'STORE' });
  });

  it('has the error of the work as the cause of the loss', async ({ clock, locks }) => {
    const error = new Error('mine');
    const ran = watchOutcome(
      locks.mutex('a').run(async () => {
        clock.stall(60_000);
        throw error;
      }),
    );
    await clock.rest();
    expect(ran.error).toMatchObject({ code: 'LEASE_LOST', reason: 'stalled', cause: error });
  });

  it('rejects with the very loss that the work rethrew', async ({ clock, locks }) => {
    let loss: unknown;
    const ran = watchOutcome(
      locks.mutex('a').run(async (lease) => {
        clock.stall(60_000);
        loss = lease.loss;
        lease.assertHeld();
      }),
    );
    await clock.rest();
    expect(loss).toBeInstanceOf(LeaseLostError);
    expect(ran.error).toBe(loss);
  });

  it('tells which listener failed to run the work', async ({ clock, locks }) => {
    locks.on('working', ({ within }) => within(undefined as never));
    const warned = once(process, 'warning');
    await Promise.all([locks.mutex('a').run(() => 1), clock.rest()]);
    const message = expect.stringMatching(/^A listener of 'working' failed: .*TypeError/);
    expect(await warned).toMatchObject([{ message }]);
  });

  it('does not mind work that releases by itself', async ({ clock, store, locks }) => {
    const ran = watchOutcome(locks.mutex('a').run(({ release }) => release().then(() => 5)));
    await clock.advance(60_000);
    expect([ran.value, store.sent('release').length]).toEqual([5, 1]);
  });
});

describe('release', () => {
  it('is idempotent: whoever asks gets the same promise', async ({ clock, store, locks }) => {
    const lease = await locks.mutex('a').acquire();
    const { release } = lease;
    expect(release()).toBe(lease.release());
    await Promise.all([lease[Symbol.asyncDispose](), clock.rest()]);
    expect(store.sent('release')).toHaveLength(1);
    expect([lease.state, lease.held, lease.remainingMs]).toEqual(['released', false, 0]);
    expect(lease.signal.aborted).toBe(false);
    await clock.advance(60_000);
    expect([lease.state, lease.signal.aborted, lease.loss]).toEqual(['released', false, undefined]);
  });

  it('waits for one try, and goes on in the background until the TTL', async ({ bed }) => {
    bed.store.onRelease = () => Promise.reject(failure());
    const lease = await bed.locks.mutex('a').acquire();
    const released = watchOutcome(lease.release());
    await bed.clock.rest();
    expect([released.done, bed.store.sent('release').length]).toEqual([true, 1]);
    expect(bed.clock.keepingAlive).toBe(0);
    await bed.clock.advance(1_000);
    expect(bed.store.sent('release').length).toBeGreaterThan(3);
    expect(bed.store.sent('release').at(-1)?.claims[0]).toMatchObject({ unanswered: true });
    await bed.clock.advance(10_000);
    const tries = bed.store.sent('release').length;
    await bed.clock.advance(60_000);
    expect(bed.store.sent('release')).toHaveLength(tries);
    expect(tries).toBeLessThan(20);
  });

  it('stops repeating as soon as the store was told', async ({ clock, store, locks }) => {
    let tries = 0;
    store.onRelease = () => (++tries < 3 ? Promise.reject(failure()) : true);
    void (await locks.mutex('a').acquire()).release();
    await clock.advance(60_000);
    expect(tries).toBe(3);
  });

  for (const options of [{}, { minHold: '5s' }] as const) {
    it(`does not hang on a store that is silent: ${JSON.stringify(options)}`, async ({ bed }) => {
      bed.store.onRelease = silence;
      const released = watchOutcome((await bed.locks.mutex('a', options).acquire()).release());
      await bed.clock.advance(3_400);
      expect(released.done).toBe(true);
    });
  }

  it('of a lost lease tells the store all the same, but no event', async () => {
    const { clock, store, locks } = setUp();
    const events: string[] = [];
    for (const name of ['lost', 'released'] as const) locks.on(name, () => events.push(name));
    const lease = await locks.mutex('a').acquire();
    clock.stall(60_000);
    await Promise.all([lease.release(), clock.rest()]);
    expect([store.sent('release').length, lease.state]).toEqual([1, 'lost']);
    expect(events).toEqual(['lost']);
  });
});

describe('waiting', () => {
  it('by the default of the locks ends, however many begin at once', async () => {
    const { clock, store, locks } = setUp({}, { wait: '1s' });
    store.onClaim = silence;
    const all = Array.from({ length: 30 }, () => watchOutcome(locks.mutex('a').acquire()));
    await clock.advance(1_500);
    for (const { error } of all) expect(error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
  });

  it('that ends says for what, unless it was aborted or failed', async ({ bed }) => {
    const { clock, store, locks } = bed;
    const missed: unknown[] = [];
    locks.on('missed', ({ why, error, waiting }) => missed.push([why, error, waiting]));
    store.onClaim = silence;
    const over = watchOutcome(locks.mutex('a').acquire({ wait: '1s' }));
    await clock.advance(1_100);
    const signal = AbortSignal.abort('enough');
    await expect(locks.mutex('a').acquire({ signal })).rejects.toBe('enough');
    void locks.close();
    const closed = expect.objectContaining({ code: 'CLOSED' });
    await expect(locks.mutex('a').acquire({ signal })).rejects.toEqual(closed);
    const [timeout, ...others] = missed;
    expect(timeout).toEqual(['timeout', over.error, over.error]);
    expect(others.flat()).toEqual(['aborted', 'enough', undefined, 'failed', closed, undefined]);
  });

  it('is for one claim of the process where the terms are the same', async ({ bed }) => {
    const { clock, store, locks } = bed;
    for (const maxHold of ['4s', '4s', '5s', undefined] as const) {
      void locks.mutex('a', { maxHold }).acquire();
      void locks.rwLock('rw').write.acquire();
    }
    await clock.rest();
    const claims = store.entered.map(({ resource }) => resource).sort();
    expect(claims).toEqual(['a', 'a', 'a', 'rw']);
  });
});

describe('minHold', () => {
  it('asks for a claim that lives at least as long, with the heartbeat of the ttl', async () => {
    const { clock, store, locks } = setUp();
    await locks.mutex('a', { ttl: '3s', minHold: '20s' }).acquire();
    await clock.advance(1_000);
    expect(store.entered[0]?.ttlMs).toBe(20_000);
    expect(store.sent('renew')).toHaveLength(1);
  });

  it('keeps the claim for the rest after a release', async ({ clock, store, locks }) => {
    const mutex = locks.mutex('a', { minHold: '5s' });
    const lease = await mutex.acquire();
    await clock.advance(2_000);
    await Promise.all([lease.release(), clock.rest()]);
    const second = await mutex.acquire();
    await clock.advance(6_000);
    await Promise.all([second.release(), clock.rest()]);
    expect(store.sent('release').map(({ afterMs }) => afterMs)).toEqual([3_000, undefined]);
  });
});

describe('maxHold', () => {
  for (const early of [0, 0.7]) {
    it(`gives the lease up although heartbeats go well; timers ${early} ms early`, async () => {
      const { clock, store, locks } = setUp();
      const mutex = locks.mutex('a', { maxHold: '25s' });
      const { setTimeout } = clock;
      clock.setTimeout = (run, ms) => setTimeout.call(clock, run, Math.max(0, ms - early));
      const lease = await mutex.acquire();
      const { signal } = lease;
      await clock.advance(24_999);
      expect([signal.aborted, lease.held]).toEqual([false, true]);
      expect(lease.remainingMs).toBeLessThanOrEqual(1);
      await clock.advance(2);
      expect(signal.reason).toMatchObject({ reason: 'max-hold' });
      const beats = store.sent('renew').length;
      await clock.advance(30_000);
      expect(store.sent('renew')).toHaveLength(beats);
    });
  }

  it('counts from each hand-off, and the next gets a fresh claim after a loss', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { maxHold: '4s' });
    const first = await mutex.acquire();
    const second = watchOutcome(mutex.acquire());
    await bed.clock.advance(3_000);
    await Promise.all([first.release(), bed.clock.rest()]);
    await bed.clock.advance(3_000);
    expect(second.value?.held).toBe(true);
    const third = watchOutcome(mutex.acquire());
    await bed.clock.advance(1_001);
    expect([second.value?.loss?.reason, third.value?.held]).toEqual(['max-hold', true]);
    expect(bed.store.entered).toHaveLength(2);
  });
});

describe('a lease that is resumed', () => {
  it.for([
    ['it was not resumed in time, or long ago', 'scripted:1'],
    ['the store is another, or has lost its data', 'scripted:2'],
  ] as const)('no more says why: %s', async ([detail, lineage], { store, locks }) => {
    const text = await (await locks.mutex('a').acquire()).handOver();
    const onHandOver = () => ({ state: 'gone', why: 'unknown', detail: 'of the store' });
    Object.assign(store, { onHandOver, lineage });
    const lost = { code: 'LEASE_LOST', reason: 'expired', resource: 'a', detail };
    await expect(locks.resume(text)).rejects.toMatchObject(lost);
  });

  it('is of the kind of the giver, and events tell its permits', async ({ locks }) => {
    const told: unknown[] = [];
    const some = await locks.semaphore('s', { limit: 3 }).acquire({ permits: 2 });
    const all = await locks.rwLock('a').write.acquire();
    locks.on('acquiring', ({ acquisition }) => told.push(acquisition.kind, acquisition.permits));
    for (const given of [some, all]) await locks.resume(await given.handOver());
    expect(told).toEqual(['permits', 2, 'write', 1]);
  });
});

describe('a lease', () => {
  it('as JSON has the token as text', async () => {
    const { store, locks } = setUp({}, { prefix: 'shop:' });
    store.onClaim = () => held({ token: 2n ** 60n });
    expect(JSON.parse(JSON.stringify(await locks.mutex('a').acquire()))).toEqual({
      resource: 'shop:a',
      kind: 'mutex',
      lineage: 'scripted:1',
      token: String(2n ** 70n),
      state: 'held',
    });
  });

  it('has methods that may be taken off it', async ({ clock, locks }) => {
    const { assertHeld, renew, release } = await locks.mutex('a').acquire();
    assertHeld();
    await Promise.all([renew(), clock.rest()]);
    await Promise.all([release(), clock.rest()]);
    expect(assertHeld).toThrow(LeaseLostError);
  });

  it('tells when it has ended, however it ended', async ({ clock, locks }) => {
    const [a, b] = [await locks.mutex('a').acquire(), await locks.mutex('b').acquire()];
    const [endA, endB] = [watchOutcome(a.ended), watchOutcome(b.ended)];
    void a.release();
    await clock.rest();
    expect([endA.done, endB.done]).toEqual([true, false]);
    clock.stall(60_000);
    await clock.rest();
    expect(endB.done).toBe(true);
    await Promise.all([a.ended, b.ended]);
  });
});
