/** Lost and late requests and replies of a lease: its heartbeats, and its release. */
import assert from 'node:assert/strict';
import type { Topic } from '../../../../src/testkit/case.ts';
import { BROKEN, BUSY, faulty, REFUSED } from './bad-network.ts';
import type { LockOf } from './lock-of.ts';
import { later, untilItWaits } from './waits.ts';

export function leaseDoubt({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, doubt about a lease`,
    needs: ['queue'],
    cases: [
      {
        name: 'a heartbeat whose answer is lost extends nothing',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const lease = await of(locks, bed.name()).acquire();
          const before = lease.remainingMs;
          store.inject({ verb: 'renew', answer: BROKEN });
          await bed.until('the heartbeat was in doubt', () => lease.state === 'unconfirmed');
          assert.ok(lease.held);
          assert.ok(lease.remainingMs < before);
          await bed.until('the lease was lost', () => !lease.held);
          assert.equal(lease.loss?.reason, 'expired');
        },
      },
      {
        name: 'one failed heartbeat is doubt, and the next one dispels it',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const events: string[] = [];
          locks.on('unconfirmed', ({ remainingMs, cause }) => {
            events.push(`unconfirmed ${remainingMs > 0} ${cause?.message}`);
          });
          locks.on('lost', () => events.push('lost'));
          const lease = await of(locks, bed.name()).acquire();
          store.inject({ verb: 'renew', arrives: 'never', answer: BUSY, times: 1 });
          await bed.until('it was in doubt', () => events.length > 0);
          await bed.until('it was held again', () => lease.state === 'held');
          assert.deepEqual(events, ['unconfirmed true Busy.']);
        },
      },
      {
        name: 'with all heartbeats lost, the lease is lost before another can be granted it',
        async run(bed) {
          const { store, locks } = faulty(bed);
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
        name: 'a heartbeat that is answered after the deadline revives nothing',
        async run(bed) {
          const { store, locks, ttl } = faulty(bed);
          const lease = await of(locks, bed.name()).acquire();
          store.inject({ verb: 'renew', answer: { lateMs: 1.5 * ttl } });
          await bed.until('the lease was lost', () => !lease.held);
          await bed.sleep(1.5 * ttl);
          assert.deepEqual([lease.held, lease.state], [false, 'lost']);
        },
      },
      {
        name: 'a failed release is repeated until the store has heard it',
        async run(bed) {
          const { store, locks } = faulty(bed, 10_000);
          const lease = await of(locks, bed.name()).acquire();
          store.inject({ verb: 'release', arrives: 'never', answer: BUSY, times: 2 });
          await lease.release();
          assert.equal(lease.held, false);
          const from = bed.clock.now();
          await bed.until('it was free', async () => (await bed.look()).holders.length === 0);
          assert.ok(bed.clock.now() - from < 9_000, 'it did not have to expire');
        },
      },
      {
        name: 'one poisonous heartbeat does not hurt those that travel with it',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const [poisoned, healthy] = await Promise.all([
            of(locks, bed.name('a')).acquire(),
            of(locks, bed.name('b')).acquire(),
          ]);
          const only = ({ resource }: { resource: string }) => resource === poisoned.resource;
          store.inject({ verb: 'renew', arrives: 'never', answer: REFUSED, only });
          await bed.until('the poisoned lease was lost', () => !poisoned.held);
          assert.ok(healthy.held);
        },
      },
    ],
  };
}
