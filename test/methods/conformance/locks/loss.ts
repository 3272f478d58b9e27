import assert from 'node:assert/strict';
import { isLockError } from '../../../../src/base/errors.ts';
import type { LeaseLostError } from '../../../../src/core/errors.ts';
import { evict } from '../../../../src/operators/evict.ts';
import { type Topic, waiting } from '../../../../src/testkit/case.ts';
import { faultyStore } from '../../../../src/testkit/faulty-store.ts';
import type { LockOf } from './lock-of.ts';
import { later, untilItWaits } from './waits.ts';

/** Leases that end before they are released. */
export function loss({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, loss`,
    cases: [
      {
        name: 'without heartbeats a lease ends with its TTL, and everything says so',
        async run(bed) {
          const locks = bed.locks();
          const events: string[] = [];
          locks.on('lost', ({ resource, reason }) => events.push(`${resource} ${reason}`));
          const lock = of(locks, bed.name(), { ttl: bed.ttlMs, heartbeat: false });
          const lease = await lock.acquire();
          const { signal } = lease;
          await bed.until('the lease was lost', () => !lease.held);
          assert.deepEqual([lease.state, lease.remainingMs], ['lost', 0]);
          assert.ok(signal.aborted);
          assert.ok(isLockError(signal.reason, 'LEASE_LOST'));
          assert.equal((signal.reason as LeaseLostError).reason, 'expired');
          assert.throws(lease.assertHeld, (error) => error === signal.reason);
          assert.deepEqual(events, [`${bed.name()} expired`]);
        },
      },
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
      {
        name: 'with all heartbeats lost, the lease is lost before another can be granted it',
        needs: ['queue'],
        async run(bed) {
          const store = faultyStore(bed.store, bed.clock);
          // The TTL leaves room for three tries under load.
          const locks = bed.locks({ ttl: 5 * bed.ttlMs }, store);
          const lease = await of(locks, bed.name()).acquire();
          const { signal } = lease;
          const next = later(of(bed.locks(), bed.name()).acquire());
          await untilItWaits(bed);
          store.inject({ verb: 'renew', arrives: 'never', answer: 'never' });
          await next;
          assert.equal(lease.held, false);
          assert.equal(lease.loss?.reason, 'expired');
          // If this process stood still, the timer is late; the microtask after a read aborts.
          await Promise.resolve();
          assert.equal(signal.aborted, true);
        },
      },
      {
        name: 'an evicted lease is lost at once, and the resource free after the TTL',
        needs: ['evict', 'tokens'],
        async run(bed) {
          const [one, other] = [bed.locks({ ttl: 2 * bed.ttlMs }), bed.locks()];
          const lease = await of(one, bed.name()).acquire();
          const next = later(of(other, bed.name()).acquire());
          await untilItWaits(bed);
          const { token } = lease;
          assert.equal(await evict(other, bed.name(), { token, reason: 'test' }), true);
          await bed.until('the lease was lost', () => !lease.held);
          assert.equal(lease.loss?.reason, 'evicted');
          assert.equal(lease.loss.detail, 'test');
          assert.deepEqual((await next).takeover, { reason: 'evicted', token });
        },
      },
    ],
  };
}
