import { describe, expect } from 'vitest';
import { Deadline } from '../../src/core/claim/deadline.ts';
import type { Heartbeat } from '../../src/core/heartbeat.ts';
import { failure, held, it } from '../support/scripted-store.ts';

const SETTINGS = {
  ...{ prefix: '', label: undefined, ttlMs: 10_000, waitMs: undefined, maxTtlMs: 30_000 },
  ...{ driftRate: 0.01, marginMs: 20 },
};

function setUpDeadline(): { readonly deadline: Deadline; jump(at: number): void } {
  const heartbeat = { jumpedAt: Number.NEGATIVE_INFINITY, stalled: () => false };
  const services = { settings: SETTINGS, heartbeat: heartbeat as unknown as Heartbeat };
  const deadline = new Deadline(services, { ttlMs: 10_000, beatTtlMs: 10_000 });
  return { deadline, jump: (at) => Object.assign(heartbeat, { jumpedAt: at }) };
}

describe('the deadline of a claim', () => {
  it('is not moved by the reply to a request that a later one has overtaken', () => {
    const { deadline } = setUpDeadline();
    deadline.confirm(10_000, 5_000);
    deadline.confirm(60_000, 4_000);
    expect(deadline.remaining(5_000)).toBe(9_880);
  });

  it('may be shortened by the store', () => {
    const { deadline } = setUpDeadline();
    deadline.confirm(10_000, 5_000);
    deadline.confirm(1_000, 6_000);
    expect(deadline.remaining(6_000)).toBe(970);
  });

  it('is in doubt after the clock may have stood still, until a later request', () => {
    const { deadline, jump } = setUpDeadline();
    deadline.confirm(10_000, 5_000);
    jump(6_000);
    deadline.confirm(60_000, 5_999);
    expect([deadline.unconfirmed, deadline.fresh(6_000), deadline.remaining(6_000)]).toEqual([
      ...[true, false, 8_880],
    ]);
    deadline.confirm(10_000, 6_000);
    expect([deadline.unconfirmed, deadline.fresh(6_000), deadline.remaining(6_000)]).toEqual([
      ...[false, true, 9_880],
    ]);
  });

  it('stays in doubt after the reply to a request that a later one has overtaken', () => {
    const { deadline } = setUpDeadline();
    deadline.confirm(10_000, 5_000);
    expect([deadline.fail(5_500, 5_400, failure()), deadline.fail(5_600, 5_600)]).toEqual([1, 2]);
    deadline.confirm(10_000, 4_000);
    expect([deadline.unconfirmed, deadline.doubt?.cause]).toEqual([true, failure()]);
    deadline.confirm(10_000, 6_000);
    expect([deadline.unconfirmed, deadline.doubt]).toEqual([false, undefined]);
  });

  it('is none before anything was confirmed', () => {
    const { deadline } = setUpDeadline();
    expect(deadline.fresh(0)).toBe(false);
  });

  it('is hopeless when requests have failed for a whole TTL', () => {
    const { deadline } = setUpDeadline();
    const hopeless = [3_300, 6_700, 9_999, 10_000].map((now) => {
      deadline.fail(now, Math.max(0, now - 3_300), failure());
      return deadline.hopeless;
    });
    expect(hopeless).toEqual([false, false, false, true]);
  });

  it('is not hopeless because the process stood still, before a request or during one', () => {
    const { deadline } = setUpDeadline();
    deadline.confirm(10_000, 0);
    deadline.fail(90_000, 89_900, failure());
    expect(deadline.hopeless).toBe(false);
    deadline.confirm(10_000, 90_100);
    const hopeless = [150_000, 154_999, 155_000].map((now) => {
      deadline.fail(now, 100_000, failure());
      return deadline.hopeless;
    });
    expect(hopeless).toEqual([false, false, true]);
  });

  it('stays where a reader has seen it pass, whatever is confirmed later', () => {
    const { deadline } = setUpDeadline();
    deadline.confirm(10_000, 0);
    expect(deadline.loss(9_879)).toBeUndefined();
    expect(deadline.loss(9_880)).toEqual({ reason: 'expired' });
    deadline.confirm(10_000, 9_000);
    expect([deadline.loss(9_880), deadline.remaining(9_880)]).toEqual([{ reason: 'expired' }, 0]);
  });

  it('comes no later than maxHold, and says so', () => {
    const { deadline } = setUpDeadline();
    deadline.confirm(10_000, 0);
    deadline.limit(3_000);
    expect([deadline.remaining(1_000), deadline.loss(3_000)]).toEqual([
      ...[2_000, { reason: 'max-hold' }],
    ]);
  });

  it('says how long the claim stays without another heartbeat', () => {
    const { deadline } = setUpDeadline();
    expect(deadline.lasts(1, 10_000, 0)).toBe(false);
    deadline.confirm(10_000, 0);
    const lasts = [5_000, 4_880].map((ms) => deadline.lasts(ms, 10_000, 5_000));
    expect(lasts).toEqual([false, true]);
  });

  it('takes nearly the whole TTL for enough where that is not twice as long', () => {
    const { deadline } = setUpDeadline();
    deadline.confirm(9_000, 0);
    const lasts = [5_000, 5_001].map((ms) => deadline.lasts(ms, 9_000, 8_000));
    expect(lasts).toEqual([false, true]);
    expect(deadline.lasts(9_000, 8_999, 0)).toBe(false);
  });
});

it('a grant of old age is renewed before it is handed out with minHold', async ({ bed }) => {
  const answers = [() => Promise.reject(failure()), () => held({ leftMs: 4_000 })];
  bed.store.onClaim = () => answers.shift()?.() ?? held();
  const acquired = bed.locks.mutex('a', { minHold: '5s' }).acquire();
  await bed.clock.advance(100);
  expect(bed.store.sent('renew')).toHaveLength(1);
  const deadline = bed.clock.now() + (await acquired).remainingMs;
  expect(deadline).toBeCloseTo((bed.store.sent('renew')[0]?.at ?? 0) + 9_880, 6);
});

it('a grant that is read late is renewed before it is handed out with minHold', async ({ bed }) => {
  bed.store.onClaim = () => {
    bed.clock.stall(6_000);
    return held();
  };
  const acquired = bed.locks.mutex('a', { minHold: '5s' }).acquire();
  await bed.clock.advance(6_500);
  expect(bed.store.sent('renew')).toHaveLength(1);
  const deadline = bed.clock.now() + (await acquired).remainingMs;
  expect(deadline).toBeCloseTo((bed.store.sent('renew')[0]?.at ?? 0) + 9_880, 6);
});

it('a grant whose claim stays long enough is handed out at once with minHold', async ({ bed }) => {
  // As of a claim on a lease that others of this process have, too.
  bed.store.onClaim = () => held({ leftMs: 7_000 });
  await bed.locks.mutex('a', { minHold: '5s' }).acquire();
  expect(bed.store.sent('renew')).toHaveLength(0);
});
