import assert from 'node:assert/strict';
import type { AcquireTimeoutError } from '../../../../src/core/errors.ts';
import type { Topic } from '../../../../src/testkit/case.ts';
import { LONG_MS } from '../../../../src/testkit/test-bed.ts';
import type { LockOf } from './lock-of.ts';
import { later, untilItWaits } from './waits.ts';

/** Taking a lock and waiting for it. */
export function acquire({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, acquire`,
    cases: [
      {
        name: 'a free lock is acquired',
        async run(bed) {
          const lease = await of(bed.locks(), bed.name()).acquire();
          assert.equal(lease.resource, bed.name());
          assert.equal(typeof lease.token, 'bigint');
          assert.equal(lease.lineage, bed.store.lineage);
          assert.deepEqual([lease.held, lease.state, lease.signal.aborted], [true, 'held', false]);
          assert.ok(lease.remainingMs > 0 && lease.remainingMs <= LONG_MS);
          lease.assertHeld();
        },
      },
      {
        name: 'a second acquire waits for the release',
        async run(bed) {
          const lock = of(bed.locks(), bed.name());
          const first = await lock.acquire();
          const course: string[] = [];
          const second = lock.acquire().then((lease) => {
            course.push('granted');
            return lease;
          });
          await bed.quiet();
          course.push('released');
          await first.release();
          assert.equal((await second).held, true);
          assert.deepEqual(course, ['released', 'granted']);
        },
      },
      {
        name: 'tryAcquire returns a lease or null',
        async run(bed) {
          const [one, other] = [bed.locks(), bed.locks()];
          const lease = await of(one, bed.name()).tryAcquire();
          assert.ok(lease?.held);
          assert.equal(await of(one, bed.name()).tryAcquire(), null);
          assert.equal(await of(other, bed.name()).tryAcquire(), null);
          await lease.release();
          assert.ok((await of(other, bed.name()).tryAcquire())?.held);
        },
      },
      {
        name: 'tryAcquire leaves nothing behind',
        async run(bed) {
          const [one, other] = [bed.locks(), bed.locks()];
          const lease = await of(one, bed.name()).acquire();
          await of(other, bed.name()).tryAcquire();
          assert.equal((await bed.look()).waiters.length, 0);
          await lease.release();
          await bed.until('the queue was empty', async () => {
            return (await bed.look()).holders.length === 0;
          });
        },
      },
      {
        name: 'tryRun tells who holds when the lock is not free',
        needs: ['holders as they are'],
        async run(bed) {
          await of(bed.locks({ label: 'the holder' }), bed.name()).acquire();
          const result = await of(bed.locks(), bed.name()).tryRun(() => assert.fail('it ran'));
          assert.equal(result.acquired, false);
          assert.ok(!result.acquired);
          const [holder] = result.holders;
          assert.deepEqual([holder?.holder.label, holder?.holder.pid], ['the holder', process.pid]);
        },
      },
      {
        name: 'a wait that runs out says for how long it waited and for whom',
        needs: ['holders as they are'],
        async run(bed) {
          await of(bed.locks({ label: 'the holder' }), bed.name()).acquire();
          const wait = of(bed.locks(), bed.name()).acquire({ wait: 60 });
          await assert.rejects(wait, (error: AcquireTimeoutError) => {
            assert.equal(error.code, 'ACQUIRE_TIMEOUT');
            assert.equal(error.resource, bed.name());
            assert.ok(error.waitedMs >= 59);
            assert.match(error.message, /the holder/);
            return true;
          });
        },
      },
      {
        name: 'a wait that runs out leaves nothing behind',
        async run(bed) {
          const held = await of(bed.locks(), bed.name()).acquire();
          const other = of(bed.locks(), bed.name());
          await assert.rejects(other.acquire({ wait: 60 }), { code: 'ACQUIRE_TIMEOUT' });
          await assert.rejects(
            other.run({ wait: 60 }, () => assert.fail('it ran')),
            { code: 'ACQUIRE_TIMEOUT' },
          );
          await bed.until('no claim waited', async () => (await bed.look()).waiters.length === 0);
          await held.release();
          assert.ok((await other.acquire()).held);
        },
      },
      {
        name: 'an abort ends the wait with the reason of the signal and leaves nothing behind',
        async run(bed) {
          const held = await of(bed.locks(), bed.name()).acquire();
          const reason = { because: 'the client hung up' };
          const aborter = new AbortController();
          const wait = later(of(bed.locks(), bed.name()).acquire({ signal: aborter.signal }));
          await untilItWaits(bed);
          aborter.abort(reason);
          await assert.rejects(wait, (caught) => caught === reason);
          await bed.until('no claim waited', async () => (await bed.look()).waiters.length === 0);
          assert.ok(held.held);
        },
      },
      {
        name: 'an abort in the moment of the claim leaves nothing behind',
        async run(bed) {
          const aborter = new AbortController();
          const wait = of(bed.locks(), bed.name()).acquire({ signal: aborter.signal });
          aborter.abort(new Error('at once'));
          await assert.rejects(wait, /at once/);
          await bed.quiet();
          const { holders, waiters } = await bed.look();
          assert.deepEqual([holders.length, waiters.length], [0, 0]);
        },
      },
      {
        name: 'a waiter that gives up in the middle of the queue does not disturb the others',
        needs: ['queue'],
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { fair: true });
          const first = await lock.acquire();
          const aborter = new AbortController();
          const course: string[] = [];
          const enter = (who: string) => () => void course.push(who);
          const a = later(lock.run(enter('a')));
          const b = later(lock.run({ signal: aborter.signal }, enter('b')));
          const c = later(lock.run(enter('c')));
          aborter.abort(new Error('enough'));
          await assert.rejects(b, /enough/);
          await first.release();
          await Promise.all([a, c]);
          assert.deepEqual(course, ['a', 'c']);
        },
      },
      {
        name: 'holders and waiters are kept alive beyond their TTL',
        async run(bed) {
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
        },
      },
    ],
  };
}
