import assert from 'node:assert/strict';
import type { Topic } from '../../../../src/testkit/case.ts';
import type { LockOf } from './lock-of.ts';

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
    ],
  };
}
