import assert from 'node:assert/strict';
import type { Topic } from '../case.ts';
import { gone, held, waiting } from '../expect.ts';

export const renew: Topic = {
  topic: 'renew',
  promise: 'Never revives a claim and never changes its permits.',
  cases: [
    {
      name: 'renewing gives a holder its full TTL again',
      async run(bed) {
        const a = bed.claim();
        const first = held(await bed.enter(a));
        await bed.sleep(bed.pauseMs);
        const aged = held(await bed.enter(a));
        const renewed = held(await bed.beat(a));
        assert.ok(renewed.leftMs > aged.leftMs, `${aged.leftMs}, then ${renewed.leftMs}`);
        assert.ok(renewed.leftMs <= a.ttlMs + bed.slackMs, `${renewed.leftMs} of ${a.ttlMs} ms`);
        assert.ok(renewed.leftMs >= first.leftMs - bed.slackMs, `${first.leftMs} at first`);
      },
    },
    {
      name: 'renewing gives a waiter its full TTL again',
      needs: ['queue'],
      async run(bed) {
        const [a, b] = [bed.claim(), bed.claim()];
        await bed.enterAll([a, b]);
        await bed.sleep(bed.pauseMs);
        const aged = waiting(await bed.enter(b));
        const renewed = waiting(await bed.beat(b));
        assert.ok(renewed.leftMs > aged.leftMs, `${aged.leftMs}, then ${renewed.leftMs}`);
        assert.ok(renewed.leftMs <= b.ttlMs + bed.slackMs, `${renewed.leftMs} of ${b.ttlMs} ms`);
      },
    },
    {
      name: 'renewals keep a holder and a waiter alive beyond their TTL',
      needs: ['queue'],
      async run(bed) {
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
      },
    },
    {
      name: 'renewing returns the token of the claim',
      needs: ['tokens'],
      async run(bed) {
        const a = bed.claim();
        const { token } = held(await bed.enter(a));
        assert.equal(held(await bed.beat(a)).token, token);
      },
    },
    {
      name: 'renewing tells a waiter that it has been admitted',
      needs: ['queue'],
      async run(bed) {
        const [a, b] = [bed.claim(), bed.claim()];
        await bed.enterAll([a, b]);
        waiting(await bed.beat(b));
        await bed.leave(a);
        held(await bed.beat(b));
      },
    },
    {
      name: 'renewing an unknown claim returns gone and creates nothing',
      async run(bed) {
        const stranger = bed.claim();
        gone(await bed.beat(stranger));
        assert.equal((await bed.look()).holders.length, 0);
        held(await bed.enter(bed.claim()));
        gone(await bed.beat(stranger));
        assert.equal((await bed.look()).holders.length, 1);
      },
    },
    {
      name: 'renewing an expired holder never revives it',
      async run(bed) {
        const a = bed.claim({ ttlMs: bed.ttlMs });
        await bed.enter(a);
        await bed.untilDead(a);
        gone(await bed.beat(a));
        assert.equal((await bed.look()).holders.length, 0);
      },
    },
    {
      name: 'renewing an expired claim does not disturb its successor',
      async run(bed) {
        const [a, b] = [bed.claim({ ttlMs: bed.ttlMs }), bed.claim()];
        await bed.enter(a);
        await bed.untilDead(a);
        const { token } = held(await bed.enter(b));
        gone(await bed.beat(a));
        assert.equal(held(await bed.beat(b)).token, token);
      },
    },
    {
      name: 'renewing too late is refused even without a look in between',
      async run(bed) {
        const a = bed.claim({ ttlMs: bed.ttlMs });
        await bed.enter(a);
        // Past the TTL, and the rounding of the store's clock.
        await bed.sleep(bed.ttlMs + 2 * bed.slackMs);
        gone(await bed.beat(a));
      },
    },
    {
      name: 'renewing an expired waiter never revives it',
      needs: ['queue'],
      async run(bed) {
        const [a, b] = [bed.claim(), bed.claim({ ttlMs: bed.ttlMs })];
        await bed.enterAll([a, b]);
        await bed.untilDead(b);
        gone(await bed.beat(b));
        assert.equal((await bed.look()).waiters.length, 0);
      },
    },
    {
      name: 'renewing a released claim returns gone',
      async run(bed) {
        const a = bed.claim();
        await bed.enter(a);
        await bed.leave(a);
        gone(await bed.beat(a));
        assert.equal((await bed.look()).holders.length, 0);
      },
    },
    {
      name: 'a heartbeat that crosses the release of its claim revives nothing',
      async run(bed) {
        const other = await bed.connect();
        for (let round = 0; round < 10; round++) {
          const a = bed.claim();
          held(await bed.enter(a));
          const beats = [bed.beat(a, other), bed.beat(a), bed.beat(a, other)];
          await Promise.all([...beats, bed.leave(a), bed.beat(a), bed.beat(a, other)]);
          gone(await bed.beat(a));
          assert.equal((await bed.look()).holders.length, 0);
        }
      },
    },
    {
      name: 'renewing never changes permits or kind',
      needs: ['queue', 'permits'],
      async run(bed) {
        const a = bed.claim({ kind: 'permits', permits: 2, limit: 3 });
        const b = bed.claim({ kind: 'permits', permits: 2, limit: 3 });
        await bed.enterAll([a, b]);
        held(await bed.beat({ ...a, permits: 1 }));
        waiting(await bed.beat({ ...b, permits: 1 }));
        const { holders, waiters } = await bed.look();
        assert.deepEqual(
          [...holders, ...waiters].map((member) => member.permits),
          [2, 2],
        );
      },
    },
  ],
};
