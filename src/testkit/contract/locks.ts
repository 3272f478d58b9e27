import assert from 'node:assert/strict';
import { check, type Topic } from '../case.ts';

/** Locks on the store, as programs use them: that the two fit together. */
export const locks: Topic = {
  topic: 'locks',
  cases: [
    check('of many tasks of two programs one is inside at a time', async (bed) => {
      let [inside, most, entries] = [0, 0, 0];
      const all = [bed.locks(), bed.locks()].map((each) => each.mutex(bed.name()));
      const task = (n: number): Promise<void> =>
        (all[n % 2] ?? assert.fail()).run(async () => {
          entries++;
          most = Math.max(most, ++inside);
          await bed.sleep(1);
          inside--;
        });
      await Promise.all(Array.from({ length: 20 }, (_, n) => task(n)));
      assert.deepEqual([most, entries], [1, 20]);
    }),
    check('a wait ends with the release, and one that runs out says who holds', async (bed) => {
      const [one, other] = [bed.locks().mutex(bed.name()), bed.locks().mutex(bed.name())];
      const lease = await one.acquire();
      const late = { code: 'ACQUIRE_TIMEOUT', resource: bed.name() };
      await assert.rejects(other.acquire({ wait: 50 }), late);
      const next = other.acquire();
      await bed.quiet();
      await lease.release();
      assert.equal((await next).held, true);
    }),
    check('a lease without heartbeats ends, says so, and lets others in', async (bed) => {
      const resource = bed.name();
      const dead = bed.locks().mutex(resource, { ttl: bed.ttlMs, heartbeat: false });
      const lease = await dead.acquire();
      const next = await bed.locks().mutex(resource).acquire();
      assert.equal(lease.held, false);
      assert.equal(lease.loss?.code, 'LEASE_LOST');
      assert.equal(next.held, true);
    }),
    check('what closes gives its locks back', async (bed) => {
      const closing = bed.locks();
      await closing.mutex(bed.name()).acquire();
      const next = bed.locks().mutex(bed.name()).acquire();
      await bed.quiet();
      await closing.close({ drain: 0 });
      assert.equal((await next).held, true);
    }),
  ],
};
