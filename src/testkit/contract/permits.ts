import assert from 'node:assert/strict';
import type { Claim } from '../../contract/store.ts';
import { check, gone, held, states, type Topic, waiting } from '../case.ts';
import { LONG_MS, type TestBed } from '../test-bed.ts';

export const order: Topic = {
  topic: 'order',
  promise: 'a claim is admitted when its permits fit under the limit and none before it waits.',
  needs: ['queue'],
  cases: [
    check('waiters are admitted one at a time, in order of arrival', async (bed) => {
      // More than ten, to catch numbers compared as text.
      const claims = Array.from({ length: 12 }, () => bed.claim());
      await bed.enterAll(claims);
      for (const [i, each] of claims.entries()) {
        const statuses = await Promise.all(claims.slice(i).map((later) => bed.beat(later)));
        assert.match(states(statuses), /^held( waiting)*$/);
        await bed.leave(each);
      }
    }),
    check('order holds between connections', async (bed) => {
      const other = await bed.connect();
      const claims = Array.from({ length: 6 }, () => bed.claim());
      for (const [i, each] of claims.entries()) await bed.enter(each, i % 2 ? other : bed.store);
      for (const [i, each] of claims.entries()) {
        held(await bed.beat(each));
        for (const later of claims.slice(i + 1)) waiting(await bed.beat(later, other));
        await bed.leave(each);
      }
    }),
    check('claims that arrive together are admitted one at a time', async (bed) => {
      const other = await bed.connect();
      let left = Array.from({ length: 10 }, (_, i) => {
        return { claim: bed.claim(), store: i % 2 ? other : bed.store };
      });
      await Promise.all(left.map(({ claim, store }) => bed.enter(claim, store)));
      while (left.length > 0) {
        const beats = left.map(({ claim, store }) => bed.beat(claim, store));
        const statuses = await Promise.all(beats);
        const holders = left.filter((_, i) => statuses[i]?.state === 'held');
        assert.equal(holders.length, 1);
        for (const { claim, store } of holders) await store.release([claim]);
        left = left.filter((each) => !holders.includes(each));
      }
    }),
    check('a waiter that died is passed over', async (bed) => {
      const [a, dead, c] = await bed.entered({}, { ttlMs: bed.ttlMs }, {});
      await bed.untilDead(dead);
      waiting(await bed.beat(c));
      await bed.leave(a);
      held(await bed.beat(c));
      gone(await bed.beat(dead));
    }),
    check('a claim that comes back queues up behind those who wait', async (bed) => {
      const [a, b, again] = [bed.claim(), bed.claim(), bed.claim()];
      await bed.enterAll([a, b]);
      await bed.leave(a);
      waiting(await bed.enter(again));
      await bed.leave(b);
      held(await bed.beat(again));
    }),
  ],
};

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
