import assert from 'node:assert/strict';
import { type Topic, waiting } from '../../../../src/testkit/case.ts';
import type { LockOf } from './lock-of.ts';

/** Leases that end before they are released. */
export function loss({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, loss`,
    cases: [
      {
        name: 'a lease is lost before the store can grant the resource to another',
        needs: ['queue'],
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { ttl: bed.ttlMs, heartbeat: false });
          const lease = await lock.acquire();
          const { signal } = lease;
          const { holders, limit = 1 } = await bed.look();
          const { kind = 'mutex', permits = 1 } = holders[0] ?? {};
          const next = bed.claim({ kind, permits, limit });
          waiting(await bed.enter(next));
          await bed.until('the next was admitted', async () => {
            return (await bed.enter(next)).state === 'held';
          });
          assert.equal(lease.held, false);
          // The process may have stood still: a read calls no listener, the next microtask does.
          await Promise.resolve();
          assert.equal(signal.aborted, true);
        },
      },
    ],
  };
}
