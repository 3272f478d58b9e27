import { expect, it } from 'vitest';
import type { FencedLock, HazelcastFence } from '../../../../src/stores/hazelcast/client.ts';
import { FencedClaim } from '../../../../src/stores/hazelcast/fenced-claim.ts';
import { claimOf } from '../../../methods/faults/bed.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const fence: HazelcastFence = { toString: () => '7' };

it('has its session begin before each request', async () => {
  const [begun, requests]: [number[], number[]] = [[], []];
  const tryLock = async (ms: number) => (requests.push(ms) > 1 ? fence : undefined);
  const session = {
    ...{ epoch: 1, aliveUntil: 10_000, aliveFrom: () => 10_000 },
    begin: async () => void begun.push(requests.length),
  };
  await new Promise<void>((granted) => {
    const claim = new FencedClaim(claimOf('a', { ttlMs: 10_000 }), {
      ...{ name: 'a', clock: new FakeClock(), granted, forgotten: () => {} },
      session: session as never,
      withLock: ((_: string, use: (it: object) => unknown) => use({ tryLock })) as never,
    });
    claim.ask();
  });
  expect(begun).toEqual([0, 1]);
});

it('gives a grant back if its session cannot be proved to go on', async () => {
  const clock = new FakeClock();
  const given: HazelcastFence[] = [];
  const lock: FencedLock = {
    async tryLock() {
      // Longer than half of its session.
      await clock.advance(6_000);
      return fence;
    },
    unlock: async (it) => void given.push(it),
    isLocked: async () => true,
  };
  const lost = new Error('no reply');
  const session = {
    ...{ epoch: 1, aliveUntil: 0, aliveFrom: (sentAt: number) => sentAt + 10_000 },
    begin: async () => {},
    prove: () => Promise.reject(lost),
  };
  const claim = new FencedClaim(claimOf('a', { ttlMs: 10_000 }), {
    ...{ name: 'a', clock, granted: () => {}, forgotten: () => {} },
    session: session as never,
    withLock: ((_: string, use: (it: FencedLock) => unknown) => use(lock)) as never,
  });
  claim.ask();
  await claim.asked;
  expect(() => claim.status()).toThrow(lost);
  expect(given).toEqual([fence]);
});
