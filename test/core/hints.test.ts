import type { Lease } from 'holdfast';
import type { ClaimStatus } from 'holdfast/store';
import { describe, expect } from 'vitest';
import type { Bed } from '../support/scripted-store.ts';
import { failure, held, it, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

/** Somebody who waits since now, as the store has confirmed. */
async function waiter(bed: Bed): Promise<{ done: boolean; value?: Lease; error?: unknown }> {
  bed.store.onClaim = bed.store.onRenew = () => waiting();
  const outcome = watchOutcome(bed.locks.mutex('a').acquire());
  await bed.clock.rest();
  return outcome;
}

function wake({ store }: Bed, hint?: ClaimStatus): void {
  store.wakes.get(store.entered.at(-1)?.id ?? '')?.(hint);
}

describe('a held hint', () => {
  it('grants without a round trip, with the deadline of the last heartbeat', async ({ bed }) => {
    const outcome = await waiter(bed);
    await bed.clock.advance(4_000);
    const requests = bed.store.calls.length;
    const beatAt = bed.store.sent('renew').at(-1)?.at ?? 0;
    wake(bed, held({ token: 5n, leftMs: 60_000, waiters: 3 }));
    await bed.clock.rest();
    expect(bed.store.calls).toHaveLength(requests);
    expect(outcome.value?.token).toBe(5n * 1024n);
    const deadline = bed.clock.now() + (outcome.value?.remainingMs ?? 0);
    expect(deadline).toBeCloseTo(beatAt + 10_000 * 0.99 - 20, 6);
  });

  it('only makes core ask when too little life is left', async ({ bed }) => {
    const outcome = await waiter(bed);
    bed.clock.stall(9_000);
    bed.store.onRenew = () => held({ token: 5n });
    wake(bed, held({ token: 5n }));
    expect(outcome.done).toBe(false);
    await bed.clock.rest();
    expect(outcome.value?.held).toBe(true);
  });

  it('only makes core ask when the claim may have entered twice', async ({ bed }) => {
    bed.store.onClaim = () => {
      throw failure();
    };
    const outcome = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.rest();
    // It entered, was admitted, lost its place, and enters once more; then the old hint comes.
    bed.store.onClaim = bed.store.onRenew = () => waiting();
    await bed.clock.advance(100);
    wake(bed, held({ token: 5n }));
    await bed.clock.rest();
    expect([outcome.done, bed.store.sent('renew').length]).toEqual([false, 1]);
    bed.store.onRenew = () => held({ token: 7n });
    wake(bed, held({ token: 7n }));
    await bed.clock.rest();
    expect(outcome.value?.token).toBe(7n * 1024n);
  });

  it('only makes core ask where hints do not grant', async () => {
    const bed = setUp({ hintsGrant: false });
    const outcome = await waiter(bed);
    wake(bed, held());
    await bed.clock.rest();
    expect([outcome.done, bed.store.sent('renew').length]).toEqual([false, 1]);
    bed.store.onRenew = () => held();
    wake(bed, held());
    await bed.clock.rest();
    expect(outcome.value?.held).toBe(true);
  });

  it('is not taken back by `waiting` in reply to a heartbeat sent before it', async ({ bed }) => {
    const outcome = await waiter(bed);
    bed.store.onRenew = () => bed.late(500, waiting());
    await bed.clock.advance(3_400);
    wake(bed, held());
    await bed.clock.advance(1_000);
    expect(outcome.value?.state).toBe('held');
  });

  it('is taken back by `waiting` in reply to a later one: the store forgot', async ({ bed }) => {
    const outcome = await waiter(bed);
    wake(bed, held());
    await bed.clock.advance(3_400);
    expect(outcome.value?.signal.reason).toMatchObject({ reason: 'store-reset' });
  });

  it('repeated changes nothing', async ({ bed }) => {
    const outcome = await waiter(bed);
    let granted = 0;
    bed.locks.on('acquired', () => granted++);
    wake(bed, held());
    wake(bed, held());
    await bed.clock.rest();
    wake(bed, held({ token: 9n }));
    await bed.clock.rest();
    expect([granted, outcome.value?.token]).toEqual([1, 1024n]);
  });

  it('while claiming is not lost: core asks again after the answer', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(100, waiting());
    const outcome = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.advance(50);
    bed.store.onRenew = () => held();
    wake(bed, held());
    await bed.clock.advance(50);
    expect(bed.store.sent('renew')).toHaveLength(1);
    expect(outcome.value?.held).toBe(true);
  });

  it('while a claim fails asks nothing: the next claim does', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(50, 0).then(() => Promise.reject(failure()));
    void bed.locks.mutex('a').acquire();
    await bed.clock.advance(20);
    wake(bed, held());
    bed.store.onClaim = () => waiting();
    await bed.clock.advance(100);
    expect(bed.store.calls.map(({ verb }) => verb)).toEqual(['claim', 'claim']);
  });

  it('that comes when the waiter has gone revives nothing', async ({ bed }) => {
    bed.store.onClaim = bed.store.onRenew = () => waiting();
    const aborter = new AbortController();
    const gone = watchOutcome(bed.locks.mutex('a').acquire({ signal: aborter.signal }));
    await bed.clock.rest();
    const late = bed.store.wakes.get(bed.store.entered[0]?.id ?? '');
    aborter.abort('enough');
    const next = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.rest();
    late?.(held());
    await bed.clock.rest();
    expect([gone.error, next.done]).toEqual(['enough', false]);
    await bed.clock.advance(20_000);
    const beaten = new Set(bed.store.sent('renew').flatMap(({ claims }) => claims));
    expect([...beaten].some(({ id }) => id === bed.store.entered[0]?.id)).toBe(false);
  });

  it('gives the whole life of minHold only when the store confirms it', async ({ bed }) => {
    bed.store.onClaim = () => waiting();
    const outcome = watchOutcome(bed.locks.mutex('a', { minHold: '5s' }).acquire());
    await bed.clock.advance(3_000);
    bed.store.onRenew = () => held();
    wake(bed, held());
    expect(outcome.done).toBe(false);
    await bed.clock.rest();
    expect(outcome.value?.remainingMs).toBeCloseTo(10_000 * 0.99 - 20, 6);
  });
});

describe('other hints', () => {
  it('that tell the admitted to wait are late: they delay no question', async ({ bed }) => {
    const { clock, store } = bed;
    store.onClaim = () => waiting();
    const outcome = watchOutcome(bed.locks.mutex('a', { minHold: '5s' }).acquire());
    await clock.rest();
    store.onRenew = () => held({ leftMs: 5_000 });
    wake(bed, held());
    await clock.rest();
    store.onRenew = () => held();
    wake(bed, waiting({ retryInMs: 2_000 }));
    await clock.advance(1);
    expect(outcome.done).toBe(true);
  });

  it('to wait put off no question that follows a failure', async ({ bed }) => {
    const outcome = await waiter(bed);
    bed.store.onRenew = () => {
      throw failure();
    };
    wake(bed);
    await bed.clock.rest();
    bed.store.onRenew = () => held();
    wake(bed, waiting({ retryInMs: 3_000 }));
    await bed.clock.advance(100);
    expect(outcome.value?.held).toBe(true);
  });

  for (const hint of [undefined, held({ waiters: 1 })]) {
    it(`that overtake the grant make core ask after it: ${hint?.state ?? 'no words'}`, async () => {
      const bed = setUp();
      bed.store.onClaim = () => bed.late(100, held());
      bed.store.onRenew = () => ({ state: 'gone', why: 'evicted' });
      const outcome = watchOutcome(bed.locks.mutex('a').acquire());
      await bed.clock.advance(50);
      wake(bed, hint);
      await bed.clock.advance(50);
      expect(bed.store.sent('renew')).toHaveLength(1);
      expect(outcome.value?.loss?.reason).toBe('evicted');
    });
  }

  it('of waiters are not undone by the reply to a request that was sent before', async () => {
    const bed = setUp();
    const lock = bed.locks.mutex('a');
    const first = await lock.acquire();
    bed.store.onRenew = () => bed.late(100, held({ waiters: 0 }));
    const renewed = first.renew();
    await bed.clock.advance(50);
    wake(bed, held({ waiters: 1 }));
    await bed.clock.advance(50);
    await renewed;
    const next = lock.acquire();
    await first.release();
    const second = await next;
    await bed.clock.advance(60);
    void lock.acquire();
    await Promise.all([second.release(), bed.clock.rest()]);
    // It gives the claim up, since another process waits.
    expect(bed.store.sent('release')).toHaveLength(1);
  });

  it('that are lost are repaired by the heartbeat', async ({ bed }) => {
    const outcome = await waiter(bed);
    bed.store.onRenew = () => held({ token: 8n });
    await bed.clock.advance(3_300);
    expect(outcome.done).toBe(false);
    await bed.clock.advance(100);
    expect(outcome.value?.token).toBe(8n * 1024n);
  });

  it('tell the first waiter when to look whether the holder is dead', async ({ bed }) => {
    const outcome = await waiter(bed);
    wake(bed, waiting({ retryInMs: 700 }));
    bed.store.onRenew = () => held();
    await bed.clock.advance(699);
    expect(outcome.done).toBe(false);
    await bed.clock.advance(2);
    expect(outcome.value?.held).toBe(true);
  });

  it('that a holder waits makes core ask', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    wake(bed, waiting());
    await bed.clock.rest();
    expect([bed.store.sent('renew').length, lease.held]).toEqual([1, true]);
  });

  it('while a heartbeat is under way bring one more, after its reply', async ({ bed }) => {
    await waiter(bed);
    bed.store.onRenew = () => bed.late(100, waiting());
    wake(bed);
    await bed.clock.advance(50);
    wake(bed);
    wake(bed);
    await bed.clock.advance(49);
    expect(bed.store.sent('renew')).toHaveLength(1);
    await bed.clock.advance(201);
    expect(bed.store.sent('renew')).toHaveLength(2);
  });

  it('without words make core ask', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    bed.store.onRenew = () => ({ state: 'gone', why: 'evicted' });
    wake(bed);
    await bed.clock.rest();
    expect(lease.loss?.reason).toBe('evicted');
  });

  it('without words do not extend a lease that wants no heartbeat', async ({ bed }) => {
    const lease = await bed.locks.mutex('a', { heartbeat: false }).acquire();
    await bed.clock.advance(5_000);
    wake(bed);
    await bed.clock.advance(4_900);
    expect([bed.store.sent('renew').length, lease.held]).toEqual([0, false]);
  });

  it('of any kind after the end send nothing', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    const late = bed.store.wakes.get(bed.store.entered[0]?.id ?? '');
    await Promise.all([lease.release(), bed.clock.rest()]);
    const requests = bed.store.calls.length;
    for (const hint of [undefined, held(), waiting()]) late?.(hint);
    await bed.clock.advance(30_000);
    expect(bed.store.calls).toHaveLength(requests);
  });
});

describe('a place in the queue that is lost', () => {
  for (const why of ['expired', 'unknown', 'session', 'store-reset', 'refused'] as const) {
    it(`by ${why} is claimed again by another id, after a pause`, async ({ bed }) => {
      const outcome = await waiter(bed);
      bed.store.onRenew = () => ({ state: 'gone', why });
      bed.store.onClaim = () => held();
      wake(bed);
      await bed.clock.advance(12);
      expect(bed.store.entered).toHaveLength(1);
      await bed.clock.advance(1);
      const [first, second] = bed.store.entered;
      expect(second?.id).not.toBe(first?.id);
      expect(outcome.value?.held).toBe(true);
    });
  }

  it('is claimed once for all who come in the pause; a wait may end in it', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    bed.store.onClaim = () => ({ state: 'gone', why: 'expired' });
    const outcome = watchOutcome(mutex.acquire({ wait: 5 }));
    void mutex.acquire();
    await bed.clock.advance(10);
    expect(outcome.error).toMatchObject({ code: 'ACQUIRE_TIMEOUT', ahead: undefined });
    bed.store.onClaim = () => waiting();
    void mutex.acquire();
    await bed.clock.advance(25);
    expect(bed.store.entered).toHaveLength(2);
  });

  it('whose waiter leaves in the pause ends nothing that begins in it', async ({ bed }) => {
    const mutex = bed.locks.mutex('a');
    bed.store.onClaim = () => ({ state: 'gone', why: 'expired' });
    const aborter = new AbortController();
    const gone = watchOutcome(mutex.acquire({ signal: aborter.signal }));
    await bed.clock.rest();
    aborter.abort('enough');
    bed.store.onClaim = () => held();
    await mutex.acquire();
    await bed.clock.advance(25);
    void mutex.acquire();
    await bed.clock.rest();
    expect([gone.error, bed.store.entered.length]).toEqual(['enough', 2]);
  });

  for (const [why, code, otherwise] of [
    ['mismatch', 'MISMATCH', 'another kind is in its queue'],
    ['full', 'QUEUE_FULL', 'full'],
    ['evicted', 'LEASE_LOST', 'it was taken away by force'],
  ] as const) {
    it(`by ${why} ends the wait with ${code}, and says what the store says`, async ({ bed }) => {
      const told: string[] = [];
      bed.locks.on('mismatch', ({ detail }) => told.push(detail));
      for (const detail of ['its queue is odd', undefined]) {
        bed.store.onClaim = () => ({ state: 'gone', why, ...(detail && { detail }) });
        const acquired = watchOutcome(bed.locks.mutex('a').acquire());
        await bed.clock.advance(1_000);
        const message = expect.stringMatching(`: ${detail ?? otherwise}\\.$`);
        expect(acquired.error).toMatchObject({ code, resource: 'a', message });
      }
      expect(bed.store.entered).toHaveLength(2);
      expect(told).toEqual(why === 'mismatch' ? ['its queue is odd', ''] : []);
    });
  }
});

describe('a store without a queue', () => {
  it('is tried again, when it says and at every heartbeat', async () => {
    const bed = setUp({ queue: false });
    let tries = 0;
    bed.store.onClaim = () => (++tries < 4 ? waiting({ retryInMs: 500 }) : held());
    const outcome = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.advance(1_400);
    expect([tries, outcome.done]).toEqual([3, false]);
    await bed.clock.advance(200);
    expect(outcome.value?.held).toBe(true);
    expect(bed.store.sent('renew')).toHaveLength(0);
    expect(new Set(bed.store.entered.map(({ id }) => id)).size).toBe(1);
    await bed.clock.advance(3_400);
    expect(bed.store.sent('renew')).toHaveLength(1);
  });
});

describe('a store that has lost its memory', () => {
  it('keeps waiters waiting, and an event says for how long', async ({ bed }) => {
    const quarantines: unknown[] = [];
    bed.locks.on('quarantine', (event) => quarantines.push(event));
    bed.store.onClaim = () => waiting({ why: 'data-loss', retryInMs: 1_200 });
    bed.store.onRenew = () => held();
    const outcome = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.advance(1_100);
    expect(outcome.done).toBe(false);
    expect(quarantines).toEqual([{ store: 'scripted', resource: 'a', leftMs: 1_200 }]);
    await bed.clock.advance(200);
    expect(outcome.value?.held).toBe(true);
  });
});
