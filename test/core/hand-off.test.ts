import { downgrade, type Lease, type Lock } from 'holdfast';
import { describe, expect } from 'vitest';
import type { Bed } from '../support/scripted-store.ts';
import { held, it, setUp, silence, waiting, watchOutcome } from '../support/scripted-store.ts';

/** Releases, and lets the next have it. */
async function release(bed: Bed, lease: Lease | undefined): Promise<void> {
  void lease?.release();
  await bed.clock.rest();
}

/** Tasks that take the lock, note their token and let go at once. */
function tasks(lock: Lock, count: number): { tokens: bigint[]; done: Promise<unknown> } {
  const tokens: bigint[] = [];
  const runs = Array.from({ length: count }, () =>
    lock.run(({ token }) => void tokens.push(token)),
  );
  return { tokens, done: Promise.all(runs) };
}

/** One task after the other, each of which takes a millisecond. */
function greedy(bed: Bed): { turns: number; going: boolean } {
  const mutex = bed.locks.mutex('a');
  const count = { turns: 0, going: true };
  const pause = () => new Promise<void>((resolve) => void bed.clock.setTimeout(resolve, 1));
  const task = async (): Promise<void> => {
    while (count.going) {
      await mutex.run(pause);
      count.turns += 1;
    }
  };
  for (let i = 0; i < 3; i++) void task();
  return count;
}

describe('the local hand-off', () => {
  it('passes the lease in the order of the tasks without a trip to the store', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    const order: number[] = [];
    const runs = [0, 1, 2, 3].map((n) => mutex.run(() => void order.push(n)));
    await Promise.all([...runs, bed.clock.rest()]);
    expect(order).toEqual([0, 1, 2, 3]);
    expect(bed.store.calls.map(({ verb }) => verb)).toEqual(['claim', 'release']);
  });

  it('gives each a new token inside STEP, and claims afresh after 1024', async ({ bed }) => {
    const { tokens, done } = tasks(bed.locks.mutex('a'), 2_500);
    await Promise.all([done, bed.clock.advance(1)]);
    const expected = Array.from({ length: 2_500 }, (_, n) => BigInt(1_024 + n));
    expect(tokens).toEqual(expected);
    expect(bed.store.entered).toHaveLength(3);
  });

  it('keeps every digit of a token, however far the store has counted', async ({ bed }) => {
    const number = 2n ** 51n + 1n;
    bed.store.onClaim = () => held({ token: number });
    const mutex = bed.locks.mutex('a');
    const leases = [0, 1, 2].map(() => watchOutcome(mutex.acquire()));
    await bed.clock.rest();
    const tokens: (bigint | undefined)[] = [];
    for (const { value } of leases) {
      tokens.push(value?.token);
      await release(bed, value);
    }
    expect(tokens).toEqual([0n, 1n, 2n].map((nth) => number * 1024n + nth));
  });

  for (const leaves of [false, true]) {
    it(`is for one that came after the claim was sent; the first leaves: ${leaves}`, async () => {
      const bed = setUp();
      bed.store.onClaim = () => bed.late(100, held());
      const mutex = bed.locks.mutex('a');
      const first = watchOutcome(mutex.acquire({ wait: leaves ? 60 : 1_000 }));
      await bed.clock.advance(50);
      const second = watchOutcome(mutex.acquire());
      await bed.clock.advance(50);
      expect([first.done, first.value?.held]).toEqual([true, leaves ? undefined : true]);
      if (!leaves) await release(bed, first.value);
      expect(second.value?.token).toBe(leaves ? 1024n : 1025n);
      expect(bed.store.calls.filter(({ verb }) => verb !== 'inspect')).toHaveLength(1);
    });
  }

  it('keeps the lineage of the grant, whatever the store has become', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    const first = await mutex.acquire();
    const second = watchOutcome(mutex.acquire());
    Object.assign(bed.store, { lineage: 'scripted:2' });
    expect(first.lineage).toBe('scripted:1');
    await release(bed, first);
    expect(second.value?.lineage).toBe('scripted:1');
  });

  it('tells the successor that the hold before was released, by which token', async ({ bed }) => {
    const takeover = { reason: 'expired', token: 6n } as const;
    bed.store.onClaim = () => held({ token: 7n, takeover });
    const mutex = bed.locks.mutex('a');
    const first = await mutex.acquire();
    const second = mutex.acquire();
    await release(bed, first);
    expect(first.takeover).toEqual({ reason: 'expired', token: 6n * 1024n });
    expect((await second).takeover).toEqual({ reason: 'released', token: 7n * 1024n });
  });

  for (const [what, waiters] of [
    ['none', 0],
    ['one', 1],
  ] as const) {
    it(`ends after 64 when others wait: ${what}`, async ({ bed }) => {
      bed.store.onClaim = () => held({ token: bed.store.next(), waiters });
      const { done } = tasks(bed.locks.mutex('a'), 3 * 65 + 1);
      await Promise.all([done, bed.clock.advance(1)]);
      expect(bed.store.entered).toHaveLength(waiters === 0 ? 1 : 4);
    });
  }

  it('ends 50 ms after the first hand-off beside foreign waiters', async ({ bed }) => {
    bed.store.onClaim = () => held({ token: bed.store.next() });
    const mutex = bed.locks.mutex('a');
    const leases = Array.from({ length: 6 }, () => watchOutcome(mutex.acquire()));
    await bed.clock.rest();
    await release(bed, leases[0]?.value);
    bed.store.wakes.get(bed.store.entered[0]?.id ?? '')?.(held({ waiters: 1 }));
    for (const outcome of leases.slice(1, 4)) {
      await release(bed, outcome.value);
      await bed.clock.advance(24);
    }
    expect(bed.store.entered).toHaveLength(1);
    await bed.clock.advance(10);
    await release(bed, leases[4]?.value);
    expect(bed.store.entered).toHaveLength(2);
    expect(leases[5]?.value?.held).toBe(true);
  });

  it('begins a batch with each claim, and asks for no waiters that it knows', async ({ bed }) => {
    bed.store.onClaim = () => held({ token: bed.store.next(), waiters: 1 });
    const mutex = bed.locks.mutex('a');
    const leases = [0, 1, 2, 3].map(() => watchOutcome(mutex.acquire()));
    for (const outcome of leases) {
      await bed.clock.advance(60);
      await release(bed, outcome.value);
    }
    expect(leases.map(({ value }) => value?.token)).toEqual([1024n, 1025n, 2048n, 2049n]);
    expect(bed.store.sent('renew')).toEqual([]);
  });

  it('asks for waiters of whom no message tells, after 50 ms and when twice as long', async () => {
    const bed = setUp();
    const waiters = { now: 0 };
    bed.store.onRenew = () => held({ token: 1n, waiters: waiters.now });
    const count = greedy(bed);
    await bed.clock.advance(300);
    const { at: began } = bed.store.sent('claim')[0] ?? { at: 0 };
    const asked = bed.store.sent('renew').map(({ at }) => Math.round(at - began));
    expect(asked).toEqual([50, 100, 200]);
    expect(bed.store.entered).toHaveLength(1);
    waiters.now = 1;
    await bed.clock.advance(180);
    expect(bed.store.entered.length, 'it gives the claim up after a batch').toBe(2);
    count.going = false;
  });

  describe('on a store that shows no waiters', () => {
    it('rests every 50 ms, for whom it cannot see', async () => {
      const bed = setUp({ queue: false });
      const count = greedy(bed);
      await bed.clock.advance(52);
      expect(bed.store.sent('release')).toHaveLength(1);
      expect(bed.store.entered).toHaveLength(1);
      await bed.clock.advance(39);
      expect(bed.store.entered).toHaveLength(1);
      await bed.clock.advance(3);
      expect(bed.store.entered).toHaveLength(2);
      expect(count.turns).toBeGreaterThanOrEqual(50);
      count.going = false;
    });

    it('rests for long once it has seen another, until none comes any more', async () => {
      const bed = setUp({ queue: false });
      bed.store.onClaim = () =>
        bed.store.entered.length === 2
          ? waiting({ retryInMs: 20 })
          : held({ token: bed.store.next() });
      const count = greedy(bed);
      await bed.clock.advance(2_000);
      const claims = bed.store.sent('claim').map(({ at }) => at);
      const releases = bed.store.sent('release').map(({ at }) => at);
      // The third is the second again, when the other has let go.
      const rests = claims.slice(3).map((at, i) => Math.round(at - (releases[i + 1] ?? 0)));
      expect(rests.slice(0, 5)).toEqual([110, 110, 110, 40, 40]);
      count.going = false;
    });

    it.each([
      ['none', 100],
      ['one', 65],
    ])('ends after 64 beside another that it has seen: %s', async (seen, turns) => {
      const bed = setUp({ queue: false });
      const answers = seen === 'one' ? [waiting({ retryInMs: 1 })] : [];
      bed.store.onClaim = () => answers.shift() ?? held({ token: bed.store.next() });
      const { tokens } = tasks(bed.locks.mutex('a'), 100);
      await bed.clock.advance(10);
      expect(tokens).toHaveLength(turns);
    });

    it('rests no later because a hold was lost', async () => {
      const bed = setUp({ queue: false });
      const mutex = bed.locks.mutex('a');
      const [first, , third, last] = [0, 1, 2, 3].map(() => watchOutcome(mutex.acquire()));
      await bed.clock.rest();
      await release(bed, first?.value);
      await bed.clock.advance(30);
      bed.store.onRenew = () => ({ state: 'gone', why: 'evicted' });
      bed.store.wakes.get(bed.store.entered[0]?.id ?? '')?.();
      await bed.clock.advance(30);
      await release(bed, third?.value);
      expect([third?.done, last?.done]).toEqual([true, false]);
      await bed.clock.advance(40);
      expect(last?.done).toBe(true);
    });

    it('rests in step with nobody', async () => {
      const bed = setUp({ queue: false });
      const chance = [0, 0.25, 1];
      bed.clock.random = () => chance.shift() ?? 0.5;
      const count = greedy(bed);
      await bed.clock.advance(450);
      const claims = bed.store.sent('claim').map(({ at }) => at);
      const releases = bed.store.sent('release').map(({ at }) => at);
      const rests = releases.map((at, i) => Math.round((claims[i + 1] ?? 0) - at));
      expect(rests.slice(0, 4)).toEqual([20, 30, 60, 40]);
      count.going = false;
    });
  });

  it('never passes a deadline', async ({ bed }) => {
    bed.store.onRenew = silence;
    const mutex = bed.locks.mutex('a');
    const first = await mutex.acquire();
    const second = watchOutcome(mutex.acquire());
    bed.clock.stall(8_950);
    await release(bed, first);
    expect(bed.store.entered).toHaveLength(2);
    expect(second.value?.remainingMs).toBeGreaterThan(9_000);
  });

  it('shows no secret of a hold that ended while the next task waited for its turn', async () => {
    const { locks, store, clock } = setUp();
    const [busy, mutex] = [locks.mutex('busy'), locks.mutex('a')];
    const [first, second] = [await busy.acquire(), await mutex.acquire()];
    const aborter = new AbortController();
    const next = watchOutcome(busy.acquire());
    const last = watchOutcome(mutex.acquire({ signal: aborter.signal }));
    await clock.rest();
    void first.release();
    // This turn of the loop has lasted too long for a second hand-off.
    clock.stall(3);
    void second.release();
    clock.stall(10_000);
    aborter.abort('enough');
    await clock.rest();
    expect([next.value?.held, last.error]).toEqual([false, 'enough']);
    const left = store.sent('release').flatMap(({ claims }) => claims);
    expect(left.map(({ resource, secret }) => [resource, secret])).toEqual([['a', undefined]]);
  });

  for (const count of [1, 2]) {
    it(`yields to timers and input, however busy the tasks are: ${count}`, async () => {
      const bed = setUp({ synchronous: true });
      const mutex = bed.locks.mutex('a');
      let ran = 0;
      let stop = false;
      const loop = async (): Promise<void> => {
        while (!stop) {
          await mutex.run(() => {
            ran++;
            bed.clock.stall(0.1);
          });
        }
      };
      const loops = Array.from({ length: count }, loop);
      bed.clock.setTimeout(() => (stop = true), 10);
      // Hangs if they claim, or hand the lock to each other, in microtasks for ever.
      await bed.clock.advance(10);
      expect(ran).toBeGreaterThan(10);
      expect(ran).toBeLessThan(300);
      await Promise.all([...loops, bed.clock.advance(1)]);
    });
  }

  it('is not for tasks with other terms, readers and permits', async ({ locks, store, clock }) => {
    const { read, write } = locks.rwLock('rw');
    const some = [
      ...[locks.mutex('a'), locks.mutex('a', { ttl: 9_000 }), locks.mutex('a', { maxHold: '1m' })],
      ...[locks.mutex('a', { heartbeat: false }), locks.mutex('a', { heartbeat: false })],
      ...[locks.mutex('a', { minHold: 1 }), locks.mutex('a', { minHold: 1 })],
      ...[read, read, locks.semaphore('s', { limit: 2 }), locks.semaphore('s', { limit: 2 })],
      write,
    ];
    for (const lock of some) void lock.acquire();
    await clock.rest();
    expect(store.entered).toHaveLength(some.length);
  });

  it('is not for those who want to be fair: each has its own claim', async ({ bed }) => {
    const mutex = bed.locks.mutex('a', { fair: true });
    const runs = Array.from({ length: 3 }, () => mutex.run(() => {}));
    await Promise.all([...runs, bed.clock.rest()]);
    expect(new Set(bed.store.entered.map(({ id }) => id)).size).toBe(3);
  });

  it('of a lease that was lost does not happen: the next claims afresh', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    const first = await mutex.acquire();
    const second = watchOutcome(mutex.acquire());
    bed.store.onRenew = () => ({ state: 'gone', why: 'evicted' });
    await bed.clock.advance(3_400);
    expect([first.state, second.value?.state]).toEqual(['lost', 'held']);
    expect(bed.store.entered).toHaveLength(2);
    bed.store.onRenew = () => held({ token: bed.store.next() });
    await release(bed, first);
    expect(second.value?.held).toBe(true);
    const left = bed.store.sent('release').flatMap(({ claims }) => claims);
    expect(left.map(({ id }) => id)).toEqual([bed.store.entered[0]?.id]);
    const third = watchOutcome(mutex.acquire());
    await release(bed, second.value);
    expect(third.value?.held, 'the claim of the second goes on').toBe(true);
    expect(bed.store.entered).toHaveLength(2);
  });

  it('claims once when the lock is taken again while its loss is reported', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    const first = await mutex.acquire();
    const waiter = watchOutcome(mutex.acquire());
    const again: { value?: Lease }[] = [];
    bed.locks.on('lost', () => again.push(watchOutcome(mutex.acquire())));
    bed.store.onClaim = () => bed.late(10, held({ token: bed.store.next() }));
    bed.store.onRenew = () => ({ state: 'gone', why: 'evicted' });
    await bed.clock.advance(3_400);
    expect(first.held).toBe(false);
    expect(bed.store.entered).toHaveLength(2);
    expect([waiter.value?.held, again[0]?.value]).toEqual([true, undefined]);
  });

  it('of a lease that is released twice happens once', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    const [first, second, third] = [0, 1, 2].map(() => watchOutcome(mutex.acquire()));
    await bed.clock.rest();
    await release(bed, first?.value);
    await release(bed, first?.value);
    expect([second?.value?.held, third?.value]).toEqual([true, undefined]);
  });
});

describe('a downgraded write lock', () => {
  it('stays held with its token and counts as a reader in every later request', async ({ bed }) => {
    const lease = await bed.locks.rwLock('rw').write.acquire();
    const { token } = lease;
    expect([lease.kind, lease.permits]).toEqual(['write', 1]);
    await downgrade(lease);
    await downgrade(lease);
    expect([lease.kind, lease.token, lease.held]).toEqual(['read', token, true]);
    await bed.clock.advance(3_400);
    expect(bed.store.sent('renew')[0]?.claims[0]).toMatchObject({ kind: 'read', permits: 1 });
    await release(bed, lease);
    await expect(downgrade(lease)).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });

  for (const outcome of ['answered', 'unanswered'] as const) {
    it(`is not handed on to a writer of this process: ${outcome}`, async ({ bed }) => {
      const { write } = bed.locks.rwLock('rw');
      const lease = await write.acquire();
      const next = watchOutcome(write.acquire());
      if (outcome === 'unanswered') bed.store.onDowngrade = silence;
      const downgraded = watchOutcome(downgrade(lease));
      await bed.clock.advance(3_400);
      expect(downgraded.done).toBe(true);
      expect(downgraded.error === undefined).toBe(outcome === 'answered');
      await release(bed, lease);
      expect(bed.store.entered).toHaveLength(2);
      expect(next.value?.kind).toBe('write');
    });
  }

  it('is refused for other kinds and stores that cannot', async ({ bed }) => {
    const mutex = await bed.locks.mutex('a').acquire();
    const permit = await bed.locks.semaphore('s', { limit: 2 }).acquire();
    for (const lease of [mutex, permit]) {
      await expect(downgrade(lease)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
      expect(lease.held).toBe(true);
    }
    Object.assign(bed.store, { downgrade: undefined });
    const writer = await bed.locks.rwLock('rw').write.acquire();
    await expect(downgrade(writer)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    expect(writer.kind).toBe('write');
  });
});
