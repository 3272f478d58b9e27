/** Lost and late requests and replies of claims that are made, or wait. */
import assert from 'node:assert/strict';
import type { Topic } from '../../../../src/testkit/case.ts';
import { BROKEN, BUSY, faulty } from './bad-network.ts';
import type { LockOf } from './lock-of.ts';
import { later, untilItWaits } from './waits.ts';

export function doubt({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, doubt`,
    needs: ['queue'],
    cases: [
      {
        name: 'a claim whose answer is lost is asked again by the same id: one claim',
        async run(bed) {
          for (const answer of ['never', BROKEN] as const) {
            const { store, locks } = faulty(bed);
            store.inject({ verb: 'claim', answer, times: 1 });
            const lease = await of(locks, bed.name(String(answer))).acquire();
            const { holders, waiters } = await bed.look(lease.resource);
            assert.deepEqual([lease.held, holders.length, waiters.length], [true, 1, 0]);
          }
        },
      },
      {
        name: 'a lease got by asking again counts from the claim that arrived first',
        async run(bed) {
          const { store, locks, ttl } = faulty(bed);
          store.inject({ verb: 'claim', answer: 'never', times: 1 });
          const lease = await of(locks, bed.name(), { heartbeat: false }).acquire();
          // Core gave up the first request after a third of the TTL; most of that passed after it
          // had arrived, even on a machine under load.
          assert.ok(lease.remainingMs <= ttl * 0.85, `${lease.remainingMs} of ${ttl} ms`);
        },
      },
      {
        name: 'a claim that arrives after its wait was given up leaves nothing behind',
        async run(bed) {
          const { store, locks } = faulty(bed);
          store.inject({ verb: 'claim', arrives: { lateMs: 100 }, answer: 'never' });
          const aborter = new AbortController();
          const wait = later(of(locks, bed.name()).acquire({ signal: aborter.signal }));
          await bed.sleep(20);
          aborter.abort(new Error('enough'));
          await assert.rejects(wait, /enough/);
          // Past the late arrival.
          await bed.sleep(150);
          assert.equal((await bed.look()).holders.length, 0);
        },
      },
      {
        name: 'a copy of a claim that arrives after the release leaves nothing behind',
        async run(bed) {
          const { store, locks, ttl } = faulty(bed);
          const lateMs = ttl / 2;
          store.inject({ verb: 'claim', arrives: { lateMs }, answer: 'never', times: 1 });
          const lease = await of(locks, bed.name()).acquire();
          await lease.release();
          // Past the late arrival.
          await bed.sleep(lateMs);
          assert.equal((await bed.look()).holders.length, 0);
        },
      },
      {
        name: 'a wait outlives heartbeats that fail for a while',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const first = await of(bed.locks(), bed.name()).acquire();
          const wait = later(of(locks, bed.name()).acquire());
          await untilItWaits(bed);
          store.inject({ verb: 'renew', arrives: 'never', answer: BUSY, times: 2 });
          await bed.quiet();
          await first.release();
          assert.ok((await wait).held);
        },
      },
      {
        name: 'a try is told apart from a look that fails',
        async run(bed) {
          const { store, locks } = faulty(bed);
          await of(bed.locks(), bed.name()).acquire();
          for (const answer of [BUSY, 'never'] as const) {
            store.inject({ verb: 'inspect', arrives: 'never', answer, times: 1 });
            const result = await of(locks, bed.name()).tryRun(() => assert.fail('it ran'));
            assert.ok(!result.acquired && result.why === 'held');
            assert.deepEqual(result.holders, []);
          }
        },
      },
    ],
  };
}
