import assert from 'node:assert/strict';
import type { Locks } from '../../../../src/locks.ts';
import type { Lock } from '../../../../src/primitives/lock.ts';
import { tryAllOf } from '../../../../src/primitives/try-all-of.ts';
import { check, type Topic } from '../../../../src/testkit/case.ts';

export const all: Topic = {
  topic: 'all',
  cases: [
    check('several in one step are all held or none', ['claimAll'], async (bed) => {
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
    }),
  ],
};
