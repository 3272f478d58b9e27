import assert from 'node:assert/strict';
import type { Locks } from '../../../../src/locks.ts';
import type { Lock } from '../../../../src/primitives/lock.ts';
import { allOf } from '../../../../src/primitives/multi-lock.ts';
import { tryAllOf } from '../../../../src/primitives/try-all-of.ts';
import type { Topic } from '../../../../src/testkit/case.ts';

export const all: Topic = {
  topic: 'all',
  cases: [
    {
      name: 'all parts are held together and given back together',
      async run(bed) {
        const locks = bed.locks();
        const both = allOf([locks.mutex(bed.name('b')), locks.mutex(bed.name('a'))]);
        await both.run(async ({ leases, held, signal }) => {
          assert.deepEqual(
            leases.map((lease) => lease.resource),
            [bed.name('b'), bed.name('a')],
          );
          assert.deepEqual([held, signal.aborted], [true, false]);
          for (const part of ['a', 'b']) {
            assert.equal((await bed.look(bed.name(part))).holders.length, 1);
          }
        });
        for (const part of ['a', 'b']) {
          assert.equal((await bed.look(bed.name(part))).holders.length, 0);
        }
      },
    },
    {
      name: 'several in one step are all held or none',
      needs: ['claimAll'],
      async run(bed) {
        const [one, other] = [bed.locks(), bed.locks({}, await bed.connect())];
        // In a cluster, braces put both into one slot.
        const both = (locks: Locks): Lock[] =>
          ['b', 'a'].map((name) => locks.mutex(bed.name(`{all}${name}`)));
        const lease = await both(one)[1]?.acquire();
        assert.equal(await tryAllOf(both(other)), null);
        await lease?.release();
        const leases = await tryAllOf(both(other));
        assert.ok(leases?.held);
        assert.equal(await tryAllOf(both(one)), null);
        await leases.release();
        assert.ok((await tryAllOf(both(one)))?.held);
      },
    },
  ],
};
