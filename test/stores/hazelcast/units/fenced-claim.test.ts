import type { Claim } from 'holdfast/store';
import { expect, it } from 'vitest';
import type { FencedLock, HazelcastFence } from '../../../../src/stores/hazelcast/client.ts';
import { FencedClaim } from '../../../../src/stores/hazelcast/fenced-claim.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const CLAIM: Claim = {
  ...{ resource: 'a', id: '0'.repeat(32), kind: 'mutex', permits: 1, limit: 1 },
  ...{ ttlMs: 10_000, queue: true, holder: { host: 'here', pid: 1, since: 0 } },
};

it('gives a grant back if its session cannot be proved to go on', async () => {
  const clock = new FakeClock();
  const given: HazelcastFence[] = [];
  const fence: HazelcastFence = { toString: () => '7' };
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
    prove: () => Promise.reject(lost),
  };
  const claim = new FencedClaim(CLAIM, {
    ...{ name: 'a', clock, granted: () => {}, forgotten: () => {} },
    session: session as never,
    locks: { ask: (_: string, use: (it: FencedLock) => unknown) => use(lock) } as never,
  });
  claim.ask();
  await claim.asked;
  expect(() => claim.status()).toThrow(lost);
  expect(given).toEqual([fence]);
});
