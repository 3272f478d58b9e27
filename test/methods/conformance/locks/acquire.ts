import assert from 'node:assert/strict';
import { check, type Topic } from '../../../../src/testkit/case.ts';
import type { LockOf } from './lock-of.ts';
import { later, untilItWaits } from './waits.ts';

/** Taking a lock and waiting for it. */
export function acquire({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, acquire`,
    cases: [
      check('tryAcquire returns a lease or null', async (bed) => {
        const [one, other] = [bed.locks(), bed.locks()];
        const lease = await of(one, bed.name()).tryAcquire();
        assert.ok(lease?.held);
        assert.equal(await of(one, bed.name()).tryAcquire(), null);
        assert.equal(await of(other, bed.name()).tryAcquire(), null);
        await lease.release();
        assert.ok((await of(other, bed.name()).tryAcquire())?.held);
      }),
      check(
        'tryRun tells who holds when the lock is not free',
        ['holders as they are'],
        async (bed) => {
          await of(bed.locks({ label: 'the holder' }), bed.name()).acquire();
          const result = await of(bed.locks(), bed.name()).tryRun(() => assert.fail('it ran'));
          assert.equal(result.acquired, false);
          assert.ok(!result.acquired);
          const [holder] = result.holders;
          assert.deepEqual([holder?.holder.label, holder?.holder.pid], ['the holder', process.pid]);
        },
      ),
      check('holders and waiters are kept alive beyond their TTL', async (bed) => {
        const ttl = 4 * bed.ttlMs;
        const lease = await of(bed.locks({ ttl }), bed.name()).acquire();
        const waiter = later(of(bed.locks({ ttl }), bed.name()).acquire());
        await untilItWaits(bed);
        // Half as long again as the TTL: without heartbeats both would be dead.
        await bed.sleep(1.5 * ttl);
        assert.ok(lease.held);
        const { holders, waiters } = await bed.look();
        assert.equal(holders.length, 1);
        // Without a queue, a store may show its waiters or not.
        if (bed.store.traits.queue) assert.equal(waiters.length, 1);
        await lease.release();
        assert.ok((await waiter).held);
      }),
    ],
  };
}
