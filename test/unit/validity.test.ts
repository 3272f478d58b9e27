import { describe, expect, it } from 'vitest';
import { Validity } from '../../src/core/deadline.ts';
import { failure, held, setUp } from './scripted-store.ts';

const OPTIONS = {
  ...{ prefix: '', label: undefined, ttlMs: 10_000, waitMs: undefined, maxTtlMs: 30_000 },
  ...{ driftRate: 0.01, marginMs: 20 },
};

const core = { options: OPTIONS, jumpedAt: Number.NEGATIVE_INFINITY };

describe('validity', () => {
  it('is not moved by the answer to a request that a later one has overtaken', () => {
    const validity = new Validity(core, 10_000, 0);
    validity.confirm(10_000, 5_000);
    validity.confirm(60_000, 4_000);
    expect([validity.confirmedAt, validity.deadline]).toEqual([5_000, 14_880]);
  });

  it('may be shortened by the store', () => {
    const validity = new Validity(core, 10_000, 0);
    validity.confirm(10_000, 5_000);
    validity.confirm(1_000, 6_000);
    expect(validity.deadline).toBe(6_970);
  });

  it('is in doubt after the clock may have stood still, until a later request', () => {
    const stopped = { ...core };
    const validity = new Validity(stopped, 10_000, 0);
    validity.confirm(10_000, 5_000);
    stopped.jumpedAt = 6_000;
    validity.confirm(60_000, 5_999);
    expect([validity.unconfirmed, validity.fresh(6_000), validity.deadline]).toEqual([
      ...[true, false, 14_880],
    ]);
    validity.confirm(10_000, 6_000);
    expect([validity.unconfirmed, validity.fresh(6_000), validity.deadline]).toEqual([
      ...[false, true, 15_880],
    ]);
  });

  it('is none before anything was confirmed', () => {
    const validity = new Validity(core, 10_000, 0);
    expect([validity.fresh(0), validity.hopeless(9_999), validity.hopeless(10_000)]).toEqual([
      ...[false, false, true],
    ]);
  });
});

it('a grant of old age is renewed before it is handed out with minHold', async () => {
  const { clock, store, locks } = setUp();
  const answers = [() => Promise.reject(failure()), () => held({ leftMs: 6_000 })];
  store.onClaim = () => answers.shift()?.() ?? held();
  const acquired = locks.mutex('a', { minHold: '5s' }).acquire();
  await clock.advance(100);
  expect(store.sent('renew')).toHaveLength(1);
  const deadline = clock.now() + (await acquired).remainingMs;
  expect(deadline).toBeCloseTo((store.sent('renew')[0]?.at ?? 0) + 9_880, 6);
});
