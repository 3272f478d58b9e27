import assert from 'node:assert/strict';
import type { Topic } from '../../../../src/testkit/case.ts';
import { gate } from '../../../support/gate.ts';
import type { LockOf } from './lock-of.ts';
import { later, untilItWaits } from './waits.ts';

/** Holders and waiters when `Locks` are closed. */
export function closing({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, close`,
    cases: [
      {
        name: 'closing ends waits',
        async run(bed) {
          const holder = await of(bed.locks(), bed.name()).acquire();
          const locks = bed.locks({}, await bed.connect());
          const wait = later(of(locks, bed.name()).acquire());
          await untilItWaits(bed);
          const [outcome] = await Promise.allSettled([wait, locks.close()]);
          assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'CLOSED');
          assert.equal((await bed.look()).waiters.length, 0);
          assert.ok(holder.held);
        },
      },
      {
        name: 'closing lets running work finish and then releases',
        async run(bed) {
          const locks = bed.locks({}, await bed.connect());
          const [entered, done] = [gate(), gate()];
          const run = of(locks, bed.name()).run(async ({ signal }) => {
            entered.open();
            await done.opened;
            return signal.aborted;
          });
          await entered.opened;
          const closed = locks.close();
          await bed.quiet();
          assert.equal((await bed.look()).holders.length, 1);
          done.open();
          assert.equal(await run, false);
          await closed;
          assert.equal((await bed.look()).holders.length, 0);
        },
      },
      {
        name: 'work that does not settle keeps the resource until its TTL',
        async run(bed) {
          const locks = bed.locks({ ttl: 4 * bed.ttlMs }, await bed.connect());
          const [entered, done] = [gate(), gate()];
          const run = of(locks, bed.name()).run(() => {
            entered.open();
            return done.opened;
          });
          const rejected = assert.rejects(run, { code: 'LEASE_LOST', reason: 'closed' });
          await entered.opened;
          await locks.close({ drain: 20 });
          assert.equal((await bed.look()).holders.length, 1);
          const next = of(bed.locks(), bed.name()).acquire();
          assert.equal((await next).takeover?.reason ?? 'expired', 'expired');
          done.open();
          await rejected;
        },
      },
      {
        name: 'the locks of others on the same store stay open',
        async run(bed) {
          const store = await bed.connect();
          const [one, other] = [bed.locks({}, store), bed.locks({}, store)];
          await one.close();
          assert.ok((await of(other, bed.name()).acquire()).held);
        },
      },
    ],
  };
}
