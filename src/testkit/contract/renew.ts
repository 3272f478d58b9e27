import assert from 'node:assert/strict';
import { check, gone, held, hold, type Topic, waiting, WHO } from '../case.ts';

export const renew: Topic = {
  topic: 'renew',
  promise: 'Never revives a claim and never changes its permits.',
  cases: [
    ...(['holder', 'waiter'] as const).map((who) =>
      check(`renewing gives a ${who} its full TTL again`, WHO[who], async (bed) => {
        const is = who === 'waiter' ? waiting : held;
        if (who === 'waiter') await bed.enter(bed.claim());
        const a = bed.claim();
        const first = is(await bed.enter(a));
        await bed.sleep(bed.pauseMs);
        const aged = is(await bed.enter(a));
        const renewed = is(await bed.beat(a));
        assert.ok(renewed.leftMs > aged.leftMs, `${aged.leftMs}, then ${renewed.leftMs}`);
        assert.ok(renewed.leftMs <= a.ttlMs + bed.slackMs, `${renewed.leftMs} of ${a.ttlMs} ms`);
        if (who === 'waiter') return;
        assert.ok(renewed.leftMs >= first.leftMs - bed.slackMs, `${first.leftMs} at first`);
      }),
    ),
    check('renewals keep a holder and a waiter alive beyond their TTL', ['queue'], async (bed) => {
      const ttlMs = 8 * bed.ttlMs;
      const [a, b] = [bed.claim({ ttlMs }), bed.claim({ ttlMs })];
      const { token } = held(await bed.enter(a));
      waiting(await bed.enter(b));
      // Half as long again as the TTL, in pauses of an eighth of it.
      for (let i = 0; i < 12; i++) {
        await bed.sleep(ttlMs / 8);
        assert.equal(held(await bed.beat(a)).token, token);
        waiting(await bed.beat(b));
      }
    }),
    check('renewing an unknown claim returns gone and creates nothing', async (bed) => {
      const stranger = bed.claim();
      gone(await bed.beat(stranger));
      assert.equal((await bed.look()).holders.length, 0);
      held(await bed.enter(bed.claim()));
      gone(await bed.beat(stranger));
      assert.equal((await bed.look()).holders.length, 1);
    }),
    check('renewing an expired holder never revives it', async (bed) => {
      const [a] = await bed.entered({ ttlMs: bed.ttlMs });
      await bed.untilDead(a);
      gone(await bed.beat(a));
      assert.equal((await bed.look()).holders.length, 0);
      const { claim: next, token } = await hold(bed);
      gone(await bed.beat(a));
      assert.equal(held(await bed.beat(next)).token, token);
    }),
    check('renewing too late is refused even without a look in between', async (bed) => {
      const [a] = await bed.entered({ ttlMs: bed.ttlMs });
      // Past the TTL, and the rounding of the store's clock.
      await bed.sleep(bed.ttlMs + 2 * bed.slackMs);
      gone(await bed.beat(a));
    }),
    check('a heartbeat that crosses the release of its claim revives nothing', async (bed) => {
      const other = await bed.connect();
      for (let round = 0; round < 10; round++) {
        const { claim: a } = await hold(bed);
        const beats = [bed.beat(a, other), bed.beat(a), bed.beat(a, other)];
        await Promise.all([...beats, bed.leave(a), bed.beat(a), bed.beat(a, other)]);
        gone(await bed.beat(a));
        assert.equal((await bed.look()).holders.length, 0);
      }
    }),
    check('renewing never changes permits or kind', ['queue', 'permits'], async (bed) => {
      const a = bed.claim({ kind: 'permits', permits: 2, limit: 3 });
      const b = bed.claim({ kind: 'permits', permits: 2, limit: 3 });
      await bed.enterAll([a, b]);
      held(await bed.beat({ ...a, permits: 1 }));
      waiting(await bed.beat({ ...b, permits: 1 }));
      const { holders, waiters } = await bed.look();
      const permits = [...holders, ...waiters].map((member) => member.permits);
      assert.deepEqual(permits, [2, 2]);
    }),
  ],
};
