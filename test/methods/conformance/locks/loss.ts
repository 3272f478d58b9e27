import assert from 'node:assert/strict';
import { isLockError } from '../../../../src/base/errors.ts';
import type { LeaseLostError } from '../../../../src/core/errors.ts';
import { evict } from '../../../../src/operators/evict.ts';
import { check, type Topic, waiting } from '../../../../src/testkit/case.ts';
import { faultyStore } from '../../../../src/testkit/faulty-store.ts';
import type { LockOf } from './lock-of.ts';
import { later, untilItWaits } from './waits.ts';

/** Leases that end before they are released. */
export function loss({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, loss`,
    cases: [
      check('without heartbeats a lease ends with its TTL, and everything says so', async (bed) => {
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
      }),
      check(
        'a lease is lost before the store can grant the resource to another',
        ['queue'],
        async (bed) => {
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
      ),
      check(
        'with all heartbeats lost, the lease is lost before another can be granted it',
        ['queue'],
        async (bed) => {
          const store = faultyStore(bed.store, bed.clock);
          // It leaves room for three tries under load.
          const ttl = 5 * bed.ttlMs;
          const lease = await of(bed.locks({ ttl }, store), bed.name()).acquire();
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
      ),
      check('a lease that was lost is released harmlessly', async (bed) => {
        const locks = bed.locks();
        const lost = await of(locks, bed.name(), { ttl: bed.ttlMs, heartbeat: false }).acquire();
        await bed.until('the lease was lost', () => !lost.held);
        const next = await of(bed.locks(), bed.name()).acquire();
        await lost.release();
        assert.ok(next.held);
        assert.equal((await bed.look()).holders.length, 1);
        assert.equal(lost.state, 'lost');
      }),
      check(
        'a holder that takes over from a dead one gets a higher token and learns of it',
        ['tokens', 'queue'],
        async (bed) => {
          const lock = of(bed.locks(), bed.name(), { ttl: bed.ttlMs, heartbeat: false });
          const dead = await lock.acquire();
          const next = await of(bed.locks(), bed.name()).acquire();
          assert.ok(next.token > dead.token);
          assert.deepEqual(next.takeover, { reason: 'expired', token: dead.token });
        },
      ),
      check(
        'an evicted lease is lost at once, and the resource free after the TTL',
        ['evict', 'tokens'],
        async (bed) => {
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
      ),
      check(
        'evicted now, a lease is lost and the next in the queue holds',
        ['evict', 'tokens'],
        async (bed) => {
          const [one, other] = [bed.locks(), bed.locks()];
          const lease = await of(one, bed.name()).acquire();
          const next = later(of(other, bed.name()).acquire());
          await untilItWaits(bed);
          const { token } = lease;
          assert.equal(await evict(other, bed.name(), { token, reason: 'test', now: true }), true);
          assert.ok((await next).held);
          await bed.until('the lease was lost', () => !lease.held);
          assert.equal(lease.loss?.reason, 'evicted');
        },
      ),
      check('a waiter that is evicted is told', ['evict', 'queue'], async (bed) => {
        const [one, other] = [bed.locks(), bed.locks()];
        const lease = await of(one, bed.name()).acquire();
        const wait = later(of(other, bed.name()).acquire());
        const lost = { code: 'LEASE_LOST', reason: 'evicted', detail: 'test' };
        const rejected = assert.rejects(wait, lost);
        const token = await bed.until('it waited', async () => {
          return (await one.inspect(bed.name())).waiters[0]?.number;
        });
        await evict(one, bed.name(), { token, reason: 'test' });
        await rejected;
        assert.ok(lease.held);
      }),
      check(
        'the work of another is not told of a loss that is not its own',
        ['evict', 'tokens'],
        async (bed) => {
          const locks = bed.locks();
          const mine = await of(locks, bed.name('mine')).acquire();
          const lost = await of(locks, bed.name('lost')).acquire();
          await evict(locks, bed.name('lost'), { token: lost.token, reason: 'test', now: true });
          await bed.until('the lease was lost', () => !lost.held);
          assert.deepEqual([mine.held, mine.signal.aborted], [true, false]);
        },
      ),
    ],
  };
}
