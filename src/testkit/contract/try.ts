import assert from 'node:assert/strict';
import { check, gone, held, states, type Topic, waiting } from '../case.ts';

export const tries: Topic = {
  topic: 'try',
  promise: 'False: enter only if admitted at once.',
  cases: [
    check('a refused try leaves nothing and may be repeated', ['atomic try'], async (bed) => {
      const [a] = await bed.entered({});
      const [once, again] = [bed.claim({ queue: false }), bed.claim({ queue: false })];
      for (const each of [once, again, again]) gone(await bed.enter(each), 'refused');
      assert.deepEqual(await bed.counts(), [1, 0]);
      gone(await bed.beat(once));
      await bed.leave(a);
      assert.equal((await bed.look()).holders.length, 0);
      held(await bed.enter(again));
    }),
    check('of tries that arrive together one is held', ['atomic try'], async (bed) => {
      const stores = [bed.store, await bed.connect()];
      for (let round = 0; round < 5; round++) {
        const resource = bed.name(String(round));
        const tries = Array.from({ length: 8 }, () => bed.claim({ resource, queue: false }));
        const answers = await Promise.all(tries.map((each, i) => bed.enter(each, stores[i % 2])));
        const { length } = answers.filter(({ state }) => state === 'held');
        assert.equal(length, 1, states(answers));
        assert.equal((await bed.look(resource)).holders.length, 1);
      }
    }),
    check('a try that would fit overtakes no waiter', ['queue', 'permits'], async (bed) => {
      const permits = { kind: 'permits', limit: 3 } as const;
      held(await bed.enter(bed.claim({ ...permits, permits: 2 })));
      waiting(await bed.enter(bed.claim({ ...permits, permits: 2 })));
      gone(await bed.enter(bed.claim({ ...permits, queue: false })), 'refused');
    }),
    check('a refused try does not change the order of the waiters', ['queue'], async (bed) => {
      const [a, b, c] = [bed.claim(), bed.claim(), bed.claim()];
      await bed.enterAll([a, b]);
      gone(await bed.enter(bed.claim({ queue: false })), 'refused');
      await bed.enter(c);
      await bed.leave(a);
      held(await bed.beat(b));
      waiting(await bed.beat(c));
    }),
    check('a try after the death of the holder is held', ['atomic try'], async (bed) => {
      const [dead] = await bed.entered({ ttlMs: bed.ttlMs });
      await bed.untilDead(dead);
      held(await bed.enter(bed.claim({ queue: false })));
    }),
    check('a refused try sends no hint', ['watch'], async (bed) => {
      const a = bed.claim();
      let wakes = 0;
      await bed.watch(a, () => wakes++);
      await bed.enter(a);
      gone(await bed.enter(bed.claim({ queue: false })), 'refused');
      await bed.quiet();
      assert.equal(wakes, 0);
    }),
  ],
};
