import { allOf, currentLease, DeadlockError, downgrade, type Lease, type Lock } from 'holdfast';
import { describe, expect } from 'vitest';
import { type Bed, failure, it, setUp, watchOutcome } from '../support/scripted-store.ts';

function sleep({ clock }: Bed, ms: number): Promise<void> {
  return new Promise((resolve) => clock.setTimeout(resolve, ms));
}

/** Runs the work inside the lock to its end. */
async function inside(bed: Bed, lock: Lock, work: () => Promise<unknown>): Promise<void> {
  const ran = watchOutcome(lock.run(work));
  await bed.clock.advance(60_000);
  expect(ran.done).toBe(true);
  if (ran.error) throw ran.error;
}

describe('a nested run', () => {
  it('without `reentrant` rejects at once instead of waiting for ever', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    await inside(bed, mutex, async () => {
      const nested = watchOutcome(bed.locks.mutex('a').run({ wait: '1h' }, () => 1));
      const multi = watchOutcome(allOf([mutex, bed.locks.mutex('b')]).run(() => 1));
      await sleep(bed, 1);
      for (const { error } of [nested, multi]) expect(error).toBeInstanceOf(DeadlockError);
      expect(await mutex.tryRun(() => 1)).toMatchObject({ acquired: false });
    });
    expect(bed.store.entered).toHaveLength(1);
  });

  it('is refused however deep and late it comes', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    await inside(bed, mutex, () =>
      bed.locks.mutex('b').run(async () => {
        await sleep(bed, 20);
        await expect(mutex.run(() => 1)).rejects.toBeInstanceOf(DeadlockError);
      }),
    );
  });

  it('finds what was taken between it and the run that it enters', async ({ bed }) => {
    const [a, b, again] = [
      bed.locks.mutex('a', { reentrant: true }),
      bed.locks.mutex('b'),
      bed.locks.mutex('b', { reentrant: true }),
    ];
    await inside(bed, a, () =>
      b.run(() =>
        a.run(async () => {
          expect(await again.run((lease) => [lease.resource, currentLease() === lease])).toEqual([
            'b',
            true,
          ]);
          await expect(b.run(() => 1)).rejects.toBeInstanceOf(DeadlockError);
        }),
      ),
    );
    expect(bed.store.entered).toHaveLength(2);
  });

  it('that rejects tells its caller, and harms no other run', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { reentrant: true });
    const error = new Error('inner');
    await inside(bed, mutex, async () => {
      await expect(mutex.run(() => Promise.reject(error))).rejects.toBe(error);
      expect(await mutex.run(() => 42)).toBe(42);
    });
  });

  it('with `reentrant` enters at once, on the same lease', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { reentrant: true });
    const tokens: bigint[] = [];
    await inside(bed, mutex, () =>
      mutex.run(async ({ token }) => {
        tokens.push(token);
        await sleep(bed, 10);
        await mutex.run((lease) => void tokens.push(lease.token));
        const tried = await mutex.tryRun((lease) => void tokens.push(lease.token));
        expect(tried.acquired).toBe(true);
      }),
    );
    expect(tokens).toEqual([1024n, 1024n, 1024n]);
    expect(bed.store.calls.filter(({ verb }) => verb !== 'renew')).toHaveLength(2);
  });

  it('excludes its siblings, in order', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { reentrant: true });
    const log: string[] = [];
    await inside(bed, mutex, () =>
      Promise.all(
        [0, 1, 2].map((n) =>
          mutex.run(async () => {
            log.push(`in ${n}`);
            await sleep(bed, 10 - n);
            await mutex.run(() => sleep(bed, 1));
            log.push(`out ${n}`);
          }),
        ),
      ),
    );
    expect(log).toEqual(['in 0', 'out 0', 'in 1', 'out 1', 'in 2', 'out 2']);
  });

  it('waits for its siblings no longer than it wants to', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { reentrant: true });
    await inside(bed, mutex, async () => {
      const long = mutex.run(() => sleep(bed, 1_000));
      const aborter = new AbortController();
      const impatient = watchOutcome(mutex.run({ wait: 100 }, () => 1));
      const aborted = watchOutcome(mutex.run({ signal: aborter.signal }, () => 1));
      const tried = await mutex.tryRun(() => 1);
      aborter.abort('enough');
      const last = watchOutcome(mutex.run(() => 'mine'));
      await long;
      await sleep(bed, 1);
      expect(tried.acquired).toBe(false);
      expect(impatient.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
      expect([aborted.error, last.value]).toEqual(['enough', 'mine']);
    });
  });

  it.each([false, true])('that floats is waited for before the release: %s', async (listened) => {
    const bed = setUp();
    if (listened) bed.locks.on('working', ({ within }) => within((work) => work()));
    const mutex = bed.locks.mutex('a', { reentrant: true });
    const log: string[] = [];
    bed.store.onRelease = () => Boolean(log.push('released'));
    await inside(bed, mutex, async () => {
      for (const n of [0, 1]) {
        void mutex.run(async (lease) => {
          await sleep(bed, 100);
          log.push(`floating ${n}, ${lease.state}`);
        });
      }
      log.push('done');
    });
    expect(log).toEqual(['done', 'floating 0, held', 'floating 1, held', 'released']);
  });

  it('never runs on a released lease, whenever floating work asks for it', async () => {
    for (let n = 0; n < 48; n++) {
      const [delay, others] = [n >> 1, n % 2];
      const bed = setUp();
      const mutex = bed.locks.mutex('a', { reentrant: true });
      const states: string[] = [];
      let within = 0;
      const visit = async (lease: Lease): Promise<void> => {
        states.push(`${lease.state} by ${++within}`);
        await sleep(bed, 10);
        within--;
      };
      await inside(bed, mutex, async () => {
        let begun: () => void = () => {};
        const end = new Promise<void>((resolve) => (begun = resolve));
        void mutex.run(async () => {
          await sleep(bed, 10);
          begun();
        });
        if (others) void mutex.run(visit);
        void end.then(async () => {
          for (let i = 0; i < delay; i++) await undefined;
          await mutex.run(visit);
        });
      });
      const each = Array<string>(1 + others).fill('held by 1');
      expect(states, `after ${delay} microtasks, ${others} in line`).toEqual(each);
    }
  });

  it('of work left behind is a stranger once the lock is released', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { reentrant: true });
    let floating: { value?: bigint } = {};
    await inside(bed, mutex, async () => {
      void sleep(bed, 1_000).then(() => {
        floating = watchOutcome(mutex.run(({ token }) => token));
      });
    });
    expect(floating.value).toBe(2n * 1024n);
    expect(bed.store.entered).toHaveLength(2);
  });

  it('on a lease that was lost rejects', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { reentrant: true });
    let entered = false;
    let nested: { error?: unknown } = {};
    const ran = inside(bed, mutex, async () => {
      bed.clock.stall(20_000);
      nested = watchOutcome(mutex.run(() => (entered = true)));
      await sleep(bed, 1);
    });
    await expect(ran).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(nested.error).toMatchObject({ code: 'LEASE_LOST' });
    expect(entered).toBe(false);
  });

  it('still enters while the locks are closing: running work may finish', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { reentrant: true });
    await inside(bed, mutex, async () => {
      void bed.locks.close();
      await sleep(bed, 10);
      expect(await mutex.run(() => 'inside')).toBe('inside');
    });
  });

  it('knows only the lock that this context holds', async ({ bed }) => {
    const other = setUp();
    const mutex = bed.locks.mutex('a', { reentrant: true });
    await inside(bed, mutex, async () => {
      await bed.locks.mutex('b', { reentrant: true }).run(() => 1);
      await other.locks.mutex('a', { reentrant: true }).run(() => 1);
    });
    expect([bed.store.entered.length, other.store.entered.length]).toEqual([2, 1]);
  });
});

describe('acquire', () => {
  it('is never re-entrant', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { reentrant: true });
    await inside(bed, mutex, async () => {
      await expect(mutex.acquire({ wait: 100 })).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
      expect(await mutex.tryAcquire()).toBeNull();
    });
    const lease = await mutex.acquire();
    const nested = watchOutcome(mutex.run({ wait: 100 }, () => 1));
    await bed.clock.advance(400);
    expect(nested.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    void lease.release();
  });
});

describe('a reader or writer', () => {
  it('may read while it writes, but a reader may not write: it would wait for ever', async () => {
    const bed = setUp();
    const { read, write } = bed.locks.rwLock('rw', { reentrant: true });
    await inside(bed, write, async () => {
      expect(await read.run(({ kind }) => kind)).toBe('write');
      expect(await write.run(() => 'in')).toBe('in');
    });
    await inside(bed, read, async () => {
      expect(await read.run(() => 'in')).toBe('in');
      const upgrade = write.run(() => 1);
      await expect(upgrade).rejects.toThrow(/: two that tried would wait .*; take the write lock/);
      await expect(upgrade).rejects.toMatchObject({ code: 'DEADLOCK' });
      expect(await write.tryRun(() => 1)).toMatchObject({ acquired: true });
    });
  });

  it('that writes already is told so, and how to get in', async ({ bed }) => {
    const { write } = bed.locks.rwLock('rw');
    const why = /this context already holds it; pass the lease on, or set reentrant: true\.$/;
    await inside(bed, write, () => expect(write.run(() => 1)).rejects.toThrow(why));
  });

  it('released by its work is free again, inside the run too', async ({ bed }) => {
    for (const reentrant of [false, true]) {
      const mutex = bed.locks.mutex('a', { reentrant });
      const ran = watchOutcome(
        mutex.run(async (lease) => {
          await lease.release();
          return mutex.run(({ token }) => token > lease.token);
        }),
      );
      await bed.clock.advance(100);
      expect(ran).toEqual({ done: true, value: true });
    }
  });

  it('lost while a nested run works rejects that run too, with its error as cause', async () => {
    const bed = setUp();
    const mutex = bed.locks.mutex('a', { reentrant: true, maxHold: '1s' });
    const wait = () => new Promise<void>((resolve) => bed.clock.setTimeout(resolve, 2_000));
    let inner: unknown;
    const outer = watchOutcome(
      mutex.run(async () => {
        inner = await mutex.run(wait).catch((error: unknown) => error);
      }),
    );
    await bed.clock.advance(3_000);
    expect(inner).toMatchObject({ code: 'LEASE_LOST', reason: 'max-hold' });
    expect(outer.error).toMatchObject({ code: 'LEASE_LOST', reason: 'max-hold' });
  });

  it('asked for as another kind of lock is a mismatch', async ({ bed }) => {
    const [plain, nested] = [{}, { reentrant: true }].map((terms) => bed.locks.rwLock('a', terms));
    await inside(bed, bed.locks.mutex('a'), async () => {
      await expect(plain?.read.run(() => 1)).rejects.toMatchObject({ code: 'MISMATCH' });
      await expect(nested?.read.run(() => 1)).rejects.toThrow(/holds it as a mutex lock/);
    });
  });

  it('that has downgraded is a reader', async ({ bed }) => {
    const { write } = bed.locks.rwLock('rw', { reentrant: true });
    const ran = watchOutcome(
      write.run(async (lease) => {
        const { onDowngrade } = bed.store;
        bed.store.onDowngrade = () => Promise.reject(failure());
        await expect(downgrade(lease)).rejects.toMatchObject({ code: 'STORE', retryable: true });
        expect([lease.held, lease.kind]).toEqual([true, 'read']);
        bed.store.onDowngrade = onDowngrade;
        await downgrade(lease);
        await expect(write.run(() => 1)).rejects.toBeInstanceOf(DeadlockError);
        const refused = bed.locks.mutex('a').run(downgrade);
        await expect(refused).rejects.toMatchObject({ code: 'UNSUPPORTED', trait: 'downgrade' });
      }),
    );
    await bed.clock.advance(100);
    expect(ran).toEqual({ done: true, value: undefined });
  });
});

describe('permits', () => {
  it('that one context can never have together are refused at once', async ({ bed }) => {
    const semaphore = bed.locks.semaphore('s', { limit: 4 });
    const ran = watchOutcome(
      semaphore.run({ permits: 2 }, async () => {
        await expect(semaphore.run({ permits: 3 }, () => 1)).rejects.toThrow(/2 of 4 permits/);
        await semaphore.run({ permits: 1 }, async () => {
          await expect(semaphore.run({ permits: 2 }, () => 1)).rejects.toMatchObject({
            code: 'DEADLOCK',
          });
          expect(await semaphore.run({ permits: 1 }, ({ permits }) => permits)).toBe(1);
        });
      }),
    );
    await bed.clock.advance(1_000);
    expect(ran).toEqual({ done: true, value: undefined });
    expect(bed.store.entered.map(({ permits }) => permits)).toEqual([2, 1, 1]);
  });

  it('count once for each lease, and only those of the same lock', async ({ bed }) => {
    const semaphore = bed.locks.semaphore('s', { limit: 5, reentrant: true });
    const other = bed.locks.semaphore('other', { limit: 4 });
    const inner = () => semaphore.run({ permits: 3 }, () => 1);
    const outer = () => semaphore.run({ permits: 2 }, () => semaphore.run({ permits: 2 }, inner));
    await inside(bed, other, outer);
    expect(bed.store.entered.map(({ permits }) => permits)).toEqual([1, 2, 3]);
  });

  it('of a re-entrant semaphore are shared only with those who want no more', async ({ bed }) => {
    const semaphore = bed.locks.semaphore('s', { limit: 5, reentrant: true });
    await inside(bed, semaphore, async () => {
      expect(await semaphore.run(({ permits }) => permits)).toBe(1);
      await semaphore.run({ permits: 2 }, async ({ token, permits }) => {
        expect(permits).toBe(2);
        expect(await semaphore.run({ permits: 2 }, (lease) => lease.token)).toBe(token);
      });
    });
    expect(bed.store.entered.map(({ permits }) => permits)).toEqual([1, 2]);
  });
});
