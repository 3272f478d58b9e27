/** Why a lock is not granted: the same structure everywhere, and no wait without a word. */
import type { LockEvents, Locks, LocksOptions, Waiting } from 'holdfast';
import { allOf, createLocks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { type MemoryStore, memoryStore } from 'holdfast/memory';
import { simulatedClock } from 'holdfast/testkit';
import { afterEach, describe, expect, onTestFinished, vi } from 'vitest';
import { perProcess } from '../../src/base/per-process.ts';
import { flush } from '../support/fake-clock.ts';
import { failure, it, setUp, silence, waiting, watchOutcome } from '../support/scripted-store.ts';

afterEach(() => vi.restoreAllMocks());

const SHORT = { wait: 20 };

/** Programs on one store; time passes once nothing else happens. */
function inMemory(): { store: MemoryStore; program(options?: LocksOptions): Locks } {
  const clock = simulatedClock();
  onTestFinished(() => clock.stop());
  const store = memoryStore({ clock, quarantine: '20s' });
  return { store, program: (options) => createLocks(store, { clock, ...options }) };
}

describe('a wait that runs out says why', () => {
  it('held, with the holder and since when it waited', async () => {
    const { program } = inMemory();
    const locks = program({ label: 'api-3' });
    const from = Date.now();
    await locks.mutex('a').acquire();
    await program().mutex('b').acquire();
    const error = await locks
      .semaphore('c', { limit: 1 })
      .acquire()
      .then(() =>
        locks
          .mutex('a')
          .acquire(SHORT)
          .catch((thrown: unknown) => thrown),
      );
    expect(error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', why: 'held', leftMs: undefined });
    const { holders, since, waitedMs, message } = error as Waiting & Error & { waitedMs: number };
    expect(holders.map(({ holder }) => holder.label)).toEqual(['api-3']);
    expect(waitedMs).toBe(20);
    expect(since + waitedMs).toBeGreaterThanOrEqual(from);
    expect(since + waitedMs).toBeLessThanOrEqual(Date.now());
    expect(message).toMatch(/^Not acquired within 20 ms: "a"; held by api-3 on /);
    expect(message).toMatch(/ on .+, pid \d+ \(this process\)\.$/);
  });

  it('limit, where another program asks for a smaller one', async () => {
    const locks = inMemory().program();
    const of = (limit: number) => locks.semaphore('a', { limit });
    await of(3).acquire();
    await of(2).acquire();
    await expect(of(3).acquire(SHORT)).rejects.toMatchObject({
      why: 'limit',
      limit: 2,
      ahead: 2,
      message: expect.stringMatching(/"a"; the limit in force is 2; held by .+\.$/),
    });
    expect(await of(3).tryRun(() => 1)).toMatchObject({ why: 'limit', limit: 2 });
    expect(await of(2).tryRun(() => 1)).toMatchObject({ why: 'held', limit: undefined });
  });

  it('queue, where there is room and an earlier waiter needs more', async () => {
    const locks = inMemory().program();
    const lock = locks.semaphore('a', { limit: 3 });
    await lock.acquire({ permits: 2 });
    void lock.acquire({ permits: 2 });
    await expect(lock.acquire(SHORT)).rejects.toMatchObject({ why: 'queue', ahead: 2 });
    expect(await lock.tryRun(() => 1)).toMatchObject({ acquired: false, why: 'queue' });
  });

  it('data-loss, with the time left', async () => {
    const { store, program } = inMemory();
    const locks = program();
    store.forget();
    const error = await locks
      .mutex('a')
      .acquire(SHORT)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      why: 'data-loss',
      message: expect.stringMatching(
        /"a"; the store is new or has lost its data, .* for another (19\.\d|20\.0) s\.$/,
      ),
    });
    expect((error as Waiting).leftMs).toBeGreaterThan(19_000);
  });

  it('store-away, with the cause', async ({ clock, store, locks }) => {
    store.onClaim = () => Promise.reject(failure());
    const waits = watchOutcome(locks.mutex('a').acquire({ wait: 3_000 }));
    await clock.advance(4_000);
    expect(waits.error).toMatchObject({ why: 'store-away', cause: { code: 'STORE' } });
  });

  it('with what was last known, if the store no longer answers', async () => {
    const { clock, store, locks } = setUp();
    store.onClaim = store.onRenew = () => waiting({ why: 'data-loss', retryInMs: 9_000, ahead: 3 });
    store.onInspect = () => new Promise(() => {});
    const waits = watchOutcome(locks.mutex('a').acquire({ wait: 1_000 }));
    await clock.advance(2_000);
    expect(waits.error).toMatchObject({ why: 'data-loss', leftMs: 9_000, ahead: 3, holders: [] });
  });
});

describe('its stack', () => {
  async function mine(work: () => Promise<unknown>): Promise<string> {
    const error = await work().catch((thrown: Error) => thrown);
    return (error as Error).stack ?? '';
  }

  it('begins where the caller asked for the lock', async () => {
    const locks = inMemory().program({ wait: 10 });
    await locks.mutex('a').acquire();
    const waits = [
      function acquires() {
        return locks.mutex('a').acquire(SHORT);
      },
      function runs() {
        return locks.mutex('a').run(SHORT, () => 1);
      },
      function defaults() {
        return locks.mutex('a').run(() => 1);
      },
      function takesAll() {
        return allOf([locks.mutex('a')]).run(SHORT, () => 1);
      },
    ];
    for (const wait of waits) {
      const [heading, first] = (await mine(wait)).split('\n');
      expect(heading).toMatch(
        /^AcquireTimeoutError: Not acquired within \d+ ms: "a"; held by .+\.$/,
      );
      expect(first).toContain(`at ${wait.name} (`);
      expect(first).toContain('waiting.test.ts');
    }
  });

  it('names those who await it', async () => {
    const locks = inMemory().program();
    await locks.mutex('a').acquire();
    async function awaits() {
      await locks.mutex('a').acquire(SHORT);
    }
    async function works() {
      await allOf([locks.mutex('a')]).run(SHORT, () => 1);
    }
    expect(await mine(awaits)).toMatch(/^ {4}at (async )?awaits \(.*waiting\.test\.ts/m);
    expect(await mine(works)).toMatch(/^ {4}at (async )?works \(.*waiting\.test\.ts/m);
  });

  it('may be whatever the program makes of stacks', async () => {
    const locks = inMemory().program();
    await locks.mutex('a').acquire();
    const { prepareStackTrace } = Error;
    Error.prepareStackTrace = (_, frames) => frames;
    try {
      await expect(locks.mutex('a').acquire(SHORT)).rejects.toMatchObject({ why: 'held' });
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
  });
});

describe('a try in a quarantine', () => {
  it('says so, with the time left, to its caller and to listeners', async () => {
    const { store, program } = inMemory();
    const locks = program();
    const missed: LockEvents['missed'][] = [];
    const quarantines: LockEvents['quarantine'][] = [];
    locks.on('missed', (event) => void missed.push(event));
    locks.on('quarantine', (event) => void quarantines.push(event));
    store.forget();
    const result = await locks.mutex('a').tryRun(() => 1);
    expect(result).toMatchObject({ acquired: false, why: 'data-loss', holders: [] });
    expect(await locks.mutex('a').tryAcquire()).toBeNull();
    expect(await allOf([locks.mutex('a')]).tryRun(() => 1)).toMatchObject({ why: 'data-loss' });
    expect(missed.map(({ waiting: { why } = {} as Waiting }) => why)).toEqual(
      Array(3).fill('data-loss'),
    );
    expect(quarantines).toHaveLength(3);
    const [{ leftMs } = { leftMs: 0 }] = quarantines;
    expect(leftMs).toBeGreaterThan(19_000);
    expect(await locks.inspect('a')).toMatchObject({ waiting: { why: 'data-loss' } });
  });

  it('lets a wait warn the process once for each loss, unless listeners know', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const { store, program } = inMemory();
    store.forget();
    const wait = async (listens: boolean): Promise<void> => {
      const locks = program();
      if (listens) locks.on('quarantine', () => {});
      expect((await locks.mutex('a').tryRun(() => 1)).acquired).toBe(false);
      await expect(locks.mutex('a').acquire(SHORT)).rejects.toMatchObject({ why: 'data-loss' });
    };
    await wait(true);
    expect(warned).not.toHaveBeenCalled();
    await wait(false);
    await wait(false);
    expect(warned.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^memory is new or has lost its data, and grants nothing for another (20\.0|19\.\d) s\.$/,
        ),
        { type: 'HoldfastWarning', code: 'HOLDFAST_QUARANTINE' },
      ],
    ]);
  });

  it('is not mistaken for one that another holder refuses', async () => {
    const { program } = inMemory();
    const locks = program();
    const missed: LockEvents['missed'][] = [];
    locks.on('missed', (event) => void missed.push(event));
    const quarantines: unknown[] = [];
    locks.on('quarantine', (event) => quarantines.push(event));
    expect((await locks.inspect('a')).waiting).toBeUndefined();
    await locks.mutex('a').acquire();
    expect(await locks.mutex('a').tryRun(() => 1)).toMatchObject({
      why: 'held',
      leftMs: undefined,
    });
    expect(missed[0]?.waiting).toMatchObject({ why: 'held', holders: [] });
    expect((await locks.inspect('a')).waiting).toMatchObject({ why: 'held', leftMs: undefined });
    watchOutcome(locks.mutex('a').acquire());
    expect((await locks.inspect('a')).waiting).toMatchObject({ why: 'held' });
    await program().mutex('b').acquire();
    expect(await locks.mutex('b').tryAcquire()).toBeNull();
    expect(quarantines).toEqual([]);
  });
});

describe('a long wait', () => {
  const MEMBER = {
    number: 1n,
    kind: 'mutex',
    permits: 1,
    ttlMs: 10_000,
    leftMs: 9_000,
    holder: { host: 'db1', pid: 81, label: 'api-3', since: 0 },
  } as const;

  function busy() {
    const bed = setUp();
    bed.store.onClaim = bed.store.onRenew = () => waiting();
    bed.store.onInspect = async () => ({ limit: 1, holders: [MEMBER], waiters: [] });
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    return { ...bed, warned };
  }

  it('is told to listeners after a second, with the holder', async () => {
    const { clock, locks } = busy();
    const told: LockEvents['waiting'][] = [];
    locks.on('waiting', (event) => void told.push(event));
    void locks.mutex('told').acquire();
    await clock.advance(900);
    expect(told).toEqual([]);
    await clock.advance(60_000);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ resource: 'told', waitedMs: 1_000, waiting: { why: 'held' } });
    expect(told[0]?.waiting.holders).toHaveLength(1);
  });

  it('is told although the claim has no answer yet', async () => {
    const { clock, store, locks } = busy();
    store.onClaim = silence;
    const told: LockEvents['waiting'][] = [];
    locks.on('waiting', (event) => void told.push(event));
    void locks.mutex('told').acquire();
    await clock.advance(1_100);
    expect(told).toMatchObject([{ resource: 'told', waitedMs: 1_000 }]);
  });

  it('becomes one warning of the process after 30 s, with holder and call site', async () => {
    const { clock, locks, warned } = busy();
    await clock.advance(5_000);
    function iWait() {
      void locks.mutex('hangs').acquire();
    }
    iWait();
    void locks.mutex('hangs').acquire();
    await clock.advance(29_000);
    expect(warned).not.toHaveBeenCalled();
    await clock.advance(90_000);
    expect(warned.mock.calls).toEqual([
      [
        'Not acquired within 30000 ms: "hangs"; held by api-3 on db1, pid 81.',
        expect.objectContaining({ type: 'HoldfastWarning', code: 'HOLDFAST_SLOW_WAIT' }),
      ],
    ]);
    const [, options] = warned.mock.calls[0] as unknown as [string, { detail: string }];
    expect(options.detail).toMatch(
      /^AcquireTimeoutError: Not acquired within .*\n {4}at .*waiting\.test\.ts/,
    );
  });

  it('is warned of again after a thousand others, for no name is remembered for ever', async () => {
    const { clock, locks, warned } = busy();
    for (let n = 0; n < 1_100; n++) void locks.mutex(`hangs ${n}`).acquire();
    await clock.advance(61_000);
    expect(warned).toHaveBeenCalledTimes(1_100);
    expect(perProcess('slow-waits', () => new Set()).size).toBe(1_000);
  });

  it('is warned of although brief waits come and go behind it', async () => {
    const { clock, locks, warned } = busy();
    void locks.mutex('stuck').acquire();
    for (let n = 0; n < 10; n++) {
      locks
        .mutex('stuck')
        .acquire({ wait: '15s' })
        .catch(() => {});
      await clock.advance(10_000);
    }
    expect(warned).toHaveBeenCalledOnce();
  });

  it('is warned of at the end of a line that moves', async () => {
    const { clock, locks, warned } = busy();
    const mutex = locks.mutex('tail');
    for (let n = 0; n < 2; n++) mutex.acquire({ wait: '40s' }).catch(() => {});
    void mutex.acquire();
    await clock.advance(61_000);
    expect(warned).toHaveBeenCalledOnce();
  });

  it('is not warned of where a listener of `slow` hears of it, nor for a standby', async () => {
    const { clock, locks, warned } = busy();
    const candidate = createElection(locks, 'leader').campaign();
    await clock.advance(61_000);
    locks.on('slow', () => {});
    void locks.mutex('heard').acquire();
    await clock.advance(61_000);
    expect(warned.mock.calls.map(([text]) => text)).toEqual([]);
    await Promise.all([candidate.resign(), clock.rest()]);
  });

  it('is not warned of if it ends during the look, but the next one is', async () => {
    const { clock, store, locks, warned } = busy();
    const { onInspect } = store;
    let looked = (): void => {};
    store.onInspect = async () => {
      await new Promise<void>((resolve) => (looked = resolve));
      return onInspect();
    };
    const aborter = new AbortController();
    const ended = locks
      .mutex('ends')
      .acquire({ signal: aborter.signal })
      .catch(() => {});
    await clock.advance(60_000);
    aborter.abort();
    looked();
    await ended;
    await flush();
    expect(warned).not.toHaveBeenCalled();
    store.onInspect = onInspect;
    void locks.mutex('ends').acquire();
    await clock.advance(90_000);
    expect(warned).toHaveBeenCalledOnce();
  });

  it('is not what a line is that moves', async ({ clock, store, locks }) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    expect(store.entered).toEqual([]);
    const turns = Array.from({ length: 8 }, (_, i) =>
      clock
        .advance(0)
        .then(() =>
          locks
            .mutex('moves')
            .run(() => new Promise<number>((resolve) => clock.setTimeout(() => resolve(i), 3_000))),
        ),
    );
    await clock.advance(60_000);
    expect(await Promise.all(turns)).toHaveLength(8);
    expect(warned).not.toHaveBeenCalled();
  });
});

describe('a method that was taken off its lock', () => {
  it('says so', () => {
    const { acquire, tryAcquire, run, tryRun } = createLocks(memoryStore()).mutex('a');
    const message = /^Call lock\.run\(work\)/;
    expect(() => acquire()).toThrow(message);
    expect(() => tryAcquire()).toThrow(message);
    expect(() => run(() => 1)).toThrow(message);
    expect(() => tryRun(() => 1)).toThrow(message);
  });

  it('so does a read-write lock: its sides are locks, and the whole is none', () => {
    const whole: { run?(work: () => number): never } = createLocks(memoryStore()).rwLock('a');
    expect(() => whole.run?.(() => 1)).toThrow(/^Call .*lock\.read\.run\(work\)/);
  });
});
