import assert from 'node:assert/strict';
import type { Topic } from '../../../../src/testkit/case.ts';
import type { LockOf } from './lock-of.ts';
import { later, untilItWaits } from './waits.ts';

/** The methods of a lease, and its end. */
export function lease({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, lease`,
    cases: [
      {
        name: 'a release may be repeated and never frees what another holds',
        async run(bed) {
          const [one, other] = [bed.locks(), bed.locks()];
          const first = await of(one, bed.name()).acquire();
          await Promise.all([first.release(), first.release()]);
          const second = await of(other, bed.name()).acquire();
          await first.release();
          assert.ok(second.held);
          assert.equal((await bed.look()).holders.length, 1);
        },
      },
      {
        name: 'the token of a lease is the number that others see',
        needs: ['tokens'],
        async run(bed) {
          const [one, other] = [bed.locks(), bed.locks()];
          const lease = await of(one, bed.name()).acquire();
          const { holders } = await other.inspect(bed.name());
          assert.equal(holders[0]?.number, lease.token);
        },
      },
      {
        name: 'tokens grow from lease to lease',
        needs: ['tokens'],
        async run(bed) {
          const [one, other] = [of(bed.locks(), bed.name()), of(bed.locks(), bed.name())];
          let last = 0n;
          for (const lock of [one, other, one, one, other, other]) {
            const { token, release } = await lock.acquire();
            assert.ok(token > last, `${token} after ${last}`);
            last = token;
            await release();
          }
        },
      },
      {
        name: 'a new holder learns from whom it takes over, and that the lease was released',
        needs: ['queue', 'tokens'],
        async run(bed) {
          const [one, other] = [of(bed.locks(), bed.name()), of(bed.locks(), bed.name())];
          const first = await one.acquire();
          const next = later(other.acquire());
          await untilItWaits(bed);
          await first.release();
          assert.deepEqual((await next).takeover, { reason: 'released', token: first.token });
        },
      },
    ],
  };
}
