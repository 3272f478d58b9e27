import assert from 'node:assert/strict';
import type { Topic } from '../../../../src/testkit/case.ts';
import { Occupancy } from '../../../support/gate.ts';
import { later, untilItWaits } from './waits.ts';

export const semaphore: Topic = {
  topic: 'semaphore',
  needs: ['queue', 'permits'],
  cases: [
    {
      name: 'never more permits than the limit are out, whatever their weight',
      async run(bed) {
        const stores = [bed.store, await bed.connect()];
        const locks = stores.map((store) =>
          bed.locks({}, store).semaphore(bed.name(), { limit: 5 }),
        );
        const room = new Occupancy();
        const task = (i: number) => {
          const permits = 1 + (i % 4);
          return locks[i % 2]?.run({ permits }, async (lease) => {
            assert.equal(lease.permits, permits);
            room.enter(permits);
            await bed.sleep(2);
            room.leave(permits);
          });
        };
        await Promise.all(Array.from({ length: 40 }, (_, i) => task(i)));
        assert.equal(room.entries, 40);
        assert.ok(room.most > 1 && room.most <= 5, `${room.most} permits were out`);
      },
    },
    {
      name: 'all permits are given out',
      async run(bed) {
        const lock = bed.locks().semaphore(bed.name(), { limit: 3 });
        const leases = await Promise.all([lock.acquire(), lock.acquire(), lock.acquire()]);
        assert.ok(leases.every((lease) => lease.held));
        assert.equal(await lock.tryAcquire(), null);
        await leases[1]?.release();
        assert.ok((await lock.tryAcquire())?.held);
      },
    },
    {
      name: 'a request for many permits is served in its turn',
      async run(bed) {
        const lock = bed.locks().semaphore(bed.name(), { limit: 3 });
        const first = await lock.acquire();
        const course: string[] = [];
        const big = later(lock.run({ permits: 3 }, () => void course.push('big')));
        await untilItWaits(bed);
        const small = later(lock.run(() => void course.push('small')));
        assert.equal(await lock.tryAcquire(), null);
        await first.release();
        await Promise.all([big, small]);
        assert.deepEqual(course, ['big', 'small']);
      },
    },
    {
      name: 'where programs disagree about the limit, the smaller one holds and an event says so',
      async run(bed) {
        const [one, other] = [bed.locks(), bed.locks()];
        const details: string[] = [];
        other.on('mismatch', ({ resource, detail }) => details.push(`${resource} ${detail}`));
        await one.semaphore(bed.name(), { limit: 2 }).acquire();
        const larger = other.semaphore(bed.name(), { limit: 5 });
        assert.ok((await larger.acquire()).held);
        assert.equal(await larger.tryAcquire(), null);
        assert.equal(details.length, 1);
        assert.ok(details[0]?.startsWith(bed.name()));
        assert.match(details[0] ?? '', /\b2\b.*\b5\b/);
      },
    },
    {
      name: 'another kind of lock of the same name is refused, and an event says so',
      async run(bed) {
        const locks = bed.locks();
        const events: string[] = [];
        locks.on('mismatch', ({ kind }) => events.push(kind));
        await locks.mutex(bed.name()).acquire();
        const semaphore = locks.semaphore(bed.name(), { limit: 2 });
        await assert.rejects(semaphore.acquire(), { code: 'MISMATCH', resource: bed.name() });
        await assert.rejects(semaphore.tryAcquire(), { code: 'MISMATCH' });
        await assert.rejects(locks.rwLock(bed.name()).read.acquire(), { code: 'MISMATCH' });
        assert.deepEqual(events, ['permits', 'permits', 'read']);
      },
    },
  ],
};
