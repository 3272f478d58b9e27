import { expect, it } from 'vitest';
import { StoreError } from '../../../../src/contract/errors.ts';
import type { FencedLock } from '../../../../src/stores/hazelcast/client.ts';
import { CpSession } from '../../../../src/stores/hazelcast/cp-session.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('what is locked after a probe without a reply is not lost by the next heartbeat', async () => {
  const lost = new StoreError('no reply', { retryable: true, outcome: 'unknown' });
  const taken = new Set<string>();
  let replies = false;
  const probe = (name: string): FencedLock => ({
    async tryLock() {
      if (!replies) throw lost;
      if (taken.has(name)) return undefined;
      taken.add(name);
      return { toString: () => '1' };
    },
    unlock: async () => {},
    isLocked: async () => true,
  });
  const session = new CpSession({
    ...{ ttlMs: 10_000, clock: new FakeClock() },
    withLock: (name, use) => use(probe(name)),
  });
  await expect(session.begin()).rejects.toBe(lost);
  replies = true;
  await session.begin();
  const { epoch } = session;
  expect(await session.prove()).toBe(epoch);
});
