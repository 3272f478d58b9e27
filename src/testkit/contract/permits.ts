import assert from 'node:assert/strict';
import type { Claim } from '../../contract/store.ts';
import { check, held, states, type Topic, waiting } from '../case.ts';
import { LONG_MS, type TestBed } from '../test-bed.ts';

export const permits: Topic = {
  topic: 'permits',
  promise: 'a claim is admitted when its permits fit under the limit and none before it waits.',
  needs: ['queue', 'permits'],
  cases: [
    check('a permit given back goes to the next', async (bed) => {
      const [a, b, c] = [of(bed, 1, 2), of(bed, 1, 2), of(bed, 1, 2)];
      assert.equal(states(await bed.enterAll([a, b, c])), 'held held waiting');
      await bed.leave(b);
      held(await bed.beat(c));
      held(await bed.beat(a));
    }),
    check('permits are counted by weight', async (bed) => {
      const statuses = await bed.enterAll([of(bed, 2, 5), of(bed, 3, 5), of(bed, 1, 5)]);
      assert.equal(states(statuses), 'held held waiting');
    }),
    check('a big claim gets its turn while small ones keep coming', async (bed) => {
      const small = [of(bed, 1, 3), of(bed, 1, 3), of(bed, 1, 3)];
      const big = of(bed, 3, 3);
      await bed.enterAll([...small, big]);
      for (const each of small) {
        waiting(await bed.beat(big));
        await bed.leave(each);
        await bed.enter(of(bed, 1, 3));
      }
      held(await bed.beat(big));
      assert.equal((await bed.look()).waiters.length, 3);
    }),
    check('one departure may admit several', async (bed) => {
      const big = of(bed, 3, 3);
      const later = [of(bed, 1, 3), of(bed, 2, 3), of(bed, 1, 3)];
      await bed.enterAll([big, ...later]);
      await bed.leave(big);
      assert.equal(states(await beatAll(bed, later)), 'held held waiting');
    }),
    check('a small claim overtakes no big one, and is let in when that leaves', async (bed) => {
      const [a, big, b] = [of(bed, 2, 3), of(bed, 2, 3), of(bed, 1, 3)];
      assert.equal(states(await bed.enterAll([a, big, b])), 'held waiting waiting');
      await bed.leave(big);
      assert.equal(states(await beatAll(bed, [a, b])), 'held held');
    }),
    check('permits of a dead holder are free again', async (bed) => {
      const dead = of(bed, 2, 2, bed.ttlMs);
      const later = [of(bed, 1, 2), of(bed, 1, 2)];
      await bed.enterAll([dead, ...later]);
      for (const each of later) await bed.untilHeld(each);
    }),
    check('permits released with `after` go to as many waiters, and no sooner', async (bed) => {
      const claims = Array.from({ length: 5 }, () => of(bed, 1, 2));
      await bed.enterAll(claims);
      const [a, b, c, d, e] = claims as [Claim, Claim, Claim, Claim, Claim];
      const from = bed.clock.now();
      for (const each of [a, b]) await bed.leave(each, { ms: bed.ttlMs });
      for (const each of [c, d]) await bed.untilHeld(each);
      bed.lasted(from, bed.ttlMs);
      waiting(await bed.beat(e));
    }),
    check('a smaller limit revokes no held claim', async (bed) => {
      const before = [of(bed, 1, 3), of(bed, 1, 3)];
      await bed.enterAll(before);
      waiting(await bed.enter(of(bed, 1, 1)));
      assert.equal(states(await beatAll(bed, before)), 'held held');
    }),
    check('a claim overruled by a smaller limit is told that limit', async (bed) => {
      const small = of(bed, 1, 2);
      assert.equal(held(await bed.enter(small)).limit, undefined);
      assert.equal(held(await bed.enter(of(bed, 1, 3))).limit, 2);
      assert.equal(waiting(await bed.enter(of(bed, 1, 3))).limit, 2);
      assert.equal((await bed.look()).limit, 2);
      assert.equal(held(await bed.beat(small)).limit, undefined);
    }),
    check('the bigger limit applies again when the smaller one has gone', async (bed) => {
      const [small, a, b, c] = [of(bed, 1, 1), of(bed, 1, 3), of(bed, 1, 3), of(bed, 1, 3)];
      await bed.enterAll([small, a, b, c]);
      assert.equal(states(await beatAll(bed, [a, b, c])), 'waiting waiting waiting');
      await bed.leave(small);
      assert.equal(states(await beatAll(bed, [a, b, c])), 'held held held');
    }),
    check('a later claim with a smaller limit does not lock out an earlier one', async (bed) => {
      const [a, big, small] = [of(bed, 1, 3), of(bed, 3, 3), of(bed, 1, 1)];
      await bed.enterAll([a, big, small]);
      await bed.leave(a);
      held(await bed.beat(big));
      waiting(await bed.beat(small));
    }),
  ],
};

function of(bed: TestBed, count: number, limit: number, ttlMs = LONG_MS): Claim {
  return bed.claim({ kind: 'permits', permits: count, limit, ttlMs });
}

function beatAll(bed: TestBed, claims: readonly Claim[]) {
  return Promise.all(claims.map((each) => bed.beat(each)));
}
