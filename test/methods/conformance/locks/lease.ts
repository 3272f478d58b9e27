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
        name: 'a released lease is not held, and says so',
        async run(bed) {
          const lease = await of(bed.locks(), bed.name()).acquire();
          await lease.release();
          assert.deepEqual([lease.held, lease.remainingMs, lease.state], [false, 0, 'released']);
          assert.throws(() => lease.assertHeld(), { code: 'LEASE_LOST' });
          await assert.rejects(lease.renew(), { code: 'LEASE_LOST' });
        },
      },
      {
        name: 'a lease counts as released from the moment of the call',
        async run(bed) {
          const lease = await of(bed.locks(), bed.name()).acquire();
          const released = lease.release();
          assert.equal(lease.held, false);
          await released;
        },
      },
      {
        name: 'the end of a block releases',
        async run(bed) {
          const lock = of(bed.locks(), bed.name());
          {
            await using lease = await lock.acquire();
            assert.ok(lease.held);
          }
          assert.equal((await bed.look()).holders.length, 0);
        },
      },
      {
        name: 'renew asks the store and prolongs the lease',
        async run(bed) {
          const lease = await of(bed.locks(), bed.name()).acquire();
          // Many times the rounding of a store's clock, and no time for a heartbeat.
          await bed.sleep(100 + 5 * bed.slackMs);
          // However long the reply takes.
          const end = (): number => bed.clock.now() + lease.remainingMs;
          const before = end();
          await lease.renew();
          assert.ok(end() > before);
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
