import assert from 'node:assert/strict';
import { check, gone, held, states, type Topic, waiting } from '../case.ts';

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
