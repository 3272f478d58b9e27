import type { Lease } from 'holdfast';
import { describe, expect } from 'vitest';
import {
  failure,
  held,
  it,
  setUp,
  silence,
  waiting,
  watchOutcome,
} from '../support/scripted-store.ts';

/** What a TTL of 10 s leaves after 1 % of drift and a margin of 20 ms. */
const LIFE_MS = 10_000 * 0.99 - 20;

describe('the deadline', () => {
  it('counts from before the request was sent', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(3_000, held());
    const acquired = bed.locks.mutex('a').acquire();
    await bed.clock.advance(3_000);
    expect((await acquired).remainingMs).toBeCloseTo(LIFE_MS - 3_000, 6);
  });

  it('counts from the batch that carried it, not from the call', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(1_000, held());
    const first = bed.locks.mutex('a').acquire();
    await bed.clock.advance(500);
    const second = bed.locks.mutex('b').acquire();
    await bed.clock.advance(2_000);
    await first;
    expect((await second).remainingMs).toBeCloseTo(LIFE_MS - 1_500, 6);
  });

  it('uses the life that the store says is left, not the ttl that was asked for', async () => {
    const { store, locks } = setUp();
    store.onClaim = () => held({ leftMs: 4_000 });
    expect((await locks.mutex('a').acquire()).remainingMs).toBeCloseTo(4_000 * 0.99 - 20, 6);
    store.onClaim = () => held({ leftMs: 12_000 });
    expect((await locks.mutex('b').acquire()).remainingMs).toBeCloseTo(12_000 * 0.99 - 20, 6);
  });

  it('keeps the drift that was asked for', async () => {
    const { locks } = setUp({}, { drift: 0.1 });
    expect((await locks.mutex('a').acquire()).remainingMs).toBeCloseTo(10_000 * 0.9 - 20, 6);
  });

  it('never yields a held lease from an answer that came too late', async ({ bed }) => {
    // Whatever comes now has too little life left when it arrives.
    bed.store.onClaim = () => bed.late(3_300, held({ leftMs: 3_310 }));
    const acquired = watchOutcome(bed.locks.mutex('a').acquire());
    await bed.clock.advance(3_300);
    expect(acquired.done).toBe(false);
    expect(bed.store.sent('release')).toHaveLength(1);
    expect(bed.store.sent('release')[0]?.claims[0]?.id).toBe(bed.store.entered[0]?.id);
    bed.store.onClaim = () => held();
    await bed.clock.advance(30);
    expect(acquired.value?.held).toBe(true);
    expect(bed.store.entered.at(-1)?.id).not.toBe(bed.store.entered[0]?.id);
  });

  it('drops an answer that comes after patience ended, and asks again by the same id', async () => {
    const { clock, store, locks, late } = setUp();
    const answers = [late(5_000, held()), held({ leftMs: 6_600, token: 7n })];
    store.onClaim = () => answers.shift() ?? silence();
    const acquired = watchOutcome(locks.mutex('a').acquire());
    await clock.advance(3_333);
    expect(store.entered).toHaveLength(1);
    await clock.advance(67);
    expect(store.entered).toHaveLength(2);
    expect(store.entered[1]?.id).toBe(store.entered[0]?.id);
    expect(acquired.value?.token).toBe(7n * 1024n);
    await clock.advance(2_000);
    const sentAt = store.calls[1]?.at ?? 0;
    const deadline = clock.now() + (acquired.value?.remainingMs ?? 0);
    expect(deadline).toBeCloseTo(sentAt + 6_600 * 0.99 - 20, 6);
  });
});

describe('a lease', () => {
  it('aborts its signal at the deadline when heartbeats are never answered', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    bed.store.onRenew = silence;
    await expectAbortAtDeadline(bed.clock, lease, LIFE_MS);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'expired' });
  });

  it('aborts its signal at the deadline when the grant came late', async () => {
    const { clock, store, locks, late } = setUp({}, { ttl: 1_000 });
    store.onClaim = () => late(330, held({ leftMs: 1_000 }));
    store.onRenew = silence;
    const acquired = locks.mutex('a').acquire();
    await clock.advance(330);
    await expectAbortAtDeadline(clock, await acquired, 990 - 20 - 330);
  });

  it('aborts its signal at the deadline when less than half of its life was left', async () => {
    const { clock, store, locks } = setUp();
    store.onClaim = () => held({ leftMs: 3_000 });
    await expectAbortAtDeadline(clock, await locks.mutex('a').acquire(), 3_000 * 0.99 - 20);
    expect(store.sent('renew'), 'the first heartbeat was to come later').toEqual([]);
  });

  it('aborts its signal at the deadline when a hint granted after failed heartbeats', async () => {
    const { clock, store, locks } = setUp();
    store.onClaim = () => waiting();
    store.onRenew = silence;
    const acquired = locks.mutex('a').acquire();
    await clock.advance(7_000);
    store.wakes.get(store.entered[0]?.id ?? '')?.(held());
    await expectAbortAtDeadline(clock, await acquired, LIFE_MS - 7_000);
  });

  it('aborts its signal at the deadline when another TTL holds up the heartbeats', async () => {
    const { clock, store, locks } = setUp();
    await locks.mutex('slow', { ttl: 3_300 }).acquire();
    const slow = store.entered[0]?.resource;
    store.onRenew = (claim) => (claim.resource === slow ? silence() : held({ leftMs: 1_000 }));
    await clock.advance(1_000);
    const lease = await locks.mutex('fast', { ttl: 1_000 }).acquire();
    const end = clock.now() + 2_500;
    while (lease.held && clock.now() < end) await clock.advance(5);
    expect(lease.signal.aborted).toBe(!lease.held);
    expect(lease.held, 'a heartbeat every third of its TTL').toBe(true);
  });

  it('aborts its signal at the deadline without heartbeats', async ({ bed }) => {
    const lease = await bed.locks.mutex('a', { heartbeat: false }).acquire();
    await expectAbortAtDeadline(bed.clock, lease, LIFE_MS);
    expect(bed.store.sent('renew')).toHaveLength(0);
  });

  it('never renews what a late heartbeat finds dead', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    bed.clock.stall(LIFE_MS);
    await bed.clock.advance(5_000);
    expect(lease.loss?.reason).toBe('stalled');
    expect(bed.store.sent('renew')).toHaveLength(0);
  });

  it('gives a signal that is aborted already to whoever asks after the loss', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    bed.clock.stall(LIFE_MS);
    expect(lease.signal.aborted).toBe(true);
    expect(lease.signal.reason).toBe(lease.loss);
  });
});

describe('a heartbeat', () => {
  it('extends from when it was sent, every third of the TTL', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    bed.store.onRenew = () => bed.late(500, held());
    await bed.clock.advance(3_333 + 500);
    expect(bed.store.sent('renew')).toHaveLength(1);
    expect(lease.remainingMs).toBeCloseTo(LIFE_MS - 500, 6);
  });

  it('that is ambiguous extends nothing, and is doubt, not loss', async ({ bed }) => {
    const told: unknown[] = [];
    bed.locks.on('unconfirmed', ({ remainingMs, cause }) => told.push(remainingMs > 0, cause));
    const lease = await bed.locks.mutex('a').acquire();
    const error = failure();
    bed.store.onRenew = () => Promise.reject(error);
    await bed.clock.advance(10_000 / 3);
    expect(lease.state).toBe('unconfirmed');
    expect(lease.remainingMs).toBeCloseTo(LIFE_MS - 10_000 / 3, 6);
    await bed.clock.advance(10_000 / 3);
    expect(told, 'one event a doubt').toEqual([true, error]);
    bed.store.onRenew = () => held();
    await bed.clock.advance(10_000 / 3 - 200);
    expect(lease.held).toBe(true);
    await bed.clock.advance(200);
  });

  it('that fails to the end is the cause of the loss', async ({ bed }) => {
    const told: unknown[] = [];
    bed.locks.on('lost', ({ reason, cause }) => told.push(reason, cause));
    const error = failure();
    bed.store.onRenew = () => Promise.reject(error);
    const ran = watchOutcome(bed.locks.mutex('a').run(({ ended }) => ended));
    await bed.clock.advance(10_000);
    const expired = { code: 'LEASE_LOST', reason: 'expired', cause: error };
    expect(ran.error).toMatchObject(expired);
    expect(told).toEqual(['expired', error]);
  });

  it('that is confirmed after doubt means held; the next doubt is an event', async ({ bed }) => {
    let doubts = 0;
    bed.locks.on('unconfirmed', () => doubts++);
    const lease = await bed.locks.mutex('a').acquire();
    bed.store.onRenew = () => Promise.reject(failure());
    await bed.clock.advance(3_400);
    expect(lease.state).toBe('unconfirmed');
    bed.store.onRenew = () => held();
    await bed.clock.advance(3_400);
    expect(lease.state).toBe('held');
    await bed.clock.advance(30_000);
    expect([lease.state, lease.signal.aborted]).toEqual(['held', false]);
    bed.store.onRenew = () => Promise.reject(failure());
    await bed.clock.advance(3_400);
    expect([lease.state, doubts]).toEqual(['unconfirmed', 2]);
  });

  it('that fails for this claim alone is doubt for this claim alone', async ({ bed }) => {
    const a = await bed.locks.mutex('a').acquire();
    const b = await bed.locks.mutex('b').acquire();
    bed.store.onRenew = ({ resource }) =>
      resource === 'a' ? { state: 'error', error: failure() } : held();
    await bed.clock.advance(3_400);
    expect([a.state, b.state]).toEqual(['unconfirmed', 'held']);
  });

  it('never has two requests of one id under way', async ({ bed }) => {
    await bed.locks.mutex('a').acquire();
    let underWay = 0;
    let most = 0;
    bed.store.onRenew = async () => {
      most = Math.max(most, ++underWay);
      await bed.late(3_000, undefined);
      underWay--;
      return held();
    };
    const wake = bed.store.wakes.get(bed.store.entered[0]?.id ?? '');
    for (let i = 0; i < 30; i++) {
      wake?.();
      await bed.clock.advance(500);
    }
    expect(most).toBe(1);
    const sent = bed.store.sent('renew').length;
    bed.store.onRenew = () => held();
    await bed.clock.advance(3_000);
    expect(bed.store.sent('renew').length - sent, 'nothing has piled up').toBeLessThanOrEqual(2);
  });

  for (const [why, reason] of [
    ['expired', 'expired'],
    ['unknown', 'expired'],
    ['evicted', 'evicted'],
    ['session', 'session'],
    ['store-reset', 'store-reset'],
  ] as const) {
    it(`answered with gone, ${why}, means lost, ${reason}`, async ({ bed }) => {
      const lost: string[] = [];
      bed.locks.on('lost', (event) => lost.push(event.reason));
      const lease = await bed.locks.mutex('a').acquire();
      bed.store.onRenew = () => ({ state: 'gone', why });
      await bed.clock.advance(3_400);
      expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', reason });
      expect(lost).toEqual([reason]);
    });
  }

  it('asked for by hand confirms, or tells why not', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    await bed.clock.advance(2_000);
    await lease.renew();
    expect(lease.remainingMs).toBeCloseTo(LIFE_MS, 6);
    bed.store.onRenew = () => Promise.reject(failure());
    await expect(lease.renew()).rejects.toMatchObject({ code: 'STORE' });
    expect(lease.state).toBe('unconfirmed');
    bed.store.onRenew = () => ({ state: 'gone', why: 'evicted' });
    await expect(lease.renew()).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'evicted' });
  });
});

async function expectAbortAtDeadline(
  clock: { advance(ms: number): Promise<void> },
  lease: Lease,
  ms: number,
): Promise<void> {
  const { signal } = lease;
  await clock.advance(ms - 2);
  expect(signal.aborted, 'before the deadline').toBe(false);
  await clock.advance(3);
  expect(signal.aborted, 'at the deadline').toBe(true);
}
