import assert from 'node:assert/strict';
import type { Topic } from '../../../../src/testkit/case.ts';
import type { LockOf } from './lock-of.ts';
import { later } from './waits.ts';

/** The shortest hold. */
export function bounds({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, minHold`,
    cases: [
      {
        name: 'a lease that is released early keeps the resource until minHold',
        async run(bed) {
          const from = bed.clock.now();
          const first = await of(bed.locks(), bed.name(), { minHold: bed.ttlMs }).acquire();
          await first.release();
          assert.deepEqual([first.held, first.state], [false, 'released']);
          // On a slow machine the try comes too late to fail.
          const tried = await of(bed.locks(), bed.name()).tryAcquire();
          const next = tried ?? (await of(bed.locks(), bed.name()).acquire());
          const kept = bed.clock.now() - from;
          assert.ok(kept >= bed.ttlMs - 2 * bed.slackMs, `it was kept for ${kept} ms`);
          assert.ok(next.held);
        },
      },
      {
        name: 'a lease that outlived minHold is free at once',
        async run(bed) {
          const first = await of(bed.locks(), bed.name(), { minHold: 50 }).acquire();
          await bed.sleep(60);
          await first.release();
          assert.equal((await bed.look()).holders.length, 0);
        },
      },
      {
        name: 'minHold lasts even if the process is gone',
        async run(bed) {
          const minHold = 4 * bed.ttlMs;
          const terms = { ttl: bed.ttlMs, minHold, heartbeat: false };
          const from = bed.clock.now();
          await of(bed.locks(), bed.name(), terms).acquire();
          await of(bed.locks(), bed.name()).acquire();
          const kept = bed.clock.now() - from;
          assert.ok(kept >= minHold - 2 * bed.slackMs, `it was kept for ${kept} ms`);
        },
      },
      {
        name: 'minHold counts from the grant for a waiter, too',
        needs: ['queue'],
        async run(bed) {
          const minHold = 2 * bed.ttlMs;
          const first = await of(bed.locks(), bed.name()).acquire();
          const terms = { ttl: bed.ttlMs, minHold, heartbeat: false };
          const waiter = later(of(bed.locks(), bed.name(), terms).acquire());
          await bed.sleep(bed.ttlMs);
          const from = bed.clock.now();
          await first.release();
          await waiter;
          await of(bed.locks(), bed.name()).acquire();
          const kept = bed.clock.now() - from;
          // A tenth of the life may have passed before the store confirms the grant.
          assert.ok(kept >= 0.9 * minHold - 2 * bed.slackMs, `it was kept for ${kept} ms`);
        },
      },
    ],
  };
}
