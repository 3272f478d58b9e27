import assert from 'node:assert/strict';
import { MAX_BATCH } from '../../contract/store.ts';
import { check, gone, held, hold, type Topic, WHO, waiting } from '../case.ts';

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

const MINUTE = 60_000;
/** Far above a minute, after which a store may clear up old data. */
const LONG_LIFE = 15 * MINUTE;

export const expiry: Topic = {
  topic: 'expiry',
  promise: 'The claim lives this long without a heartbeat.',
  cases: [
    ...(['holder', 'waiter'] as const).map((who) =>
      check(`a ${who} without heartbeats dies after its TTL, no earlier`, WHO[who], async (bed) => {
        const holder = bed.claim();
        if (who === 'waiter') await bed.enter(holder);
        const from = bed.clock.now();
        const dying = bed.claim({ ttlMs: bed.ttlMs });
        const entered = await bed.enter(dying);
        if (who === 'waiter') waiting(entered);
        else held(entered);
        await bed.untilDead(dying);
        bed.lasted(from, bed.ttlMs);
        gone(await bed.beat(dying));
        const { holders, waiters } = await bed.look();
        assert.equal((who === 'waiter' ? waiters : holders).length, 0);
        if (who === 'waiter') assert.equal(held(await bed.beat(holder)).waiters, 0);
      }),
    ),
    check('a dead holder makes way for the first waiter', ['queue'], async (bed) => {
      const [, b, c] = await bed.entered({ ttlMs: bed.ttlMs }, {}, {});
      await bed.untilHeld(b);
      waiting(await bed.beat(c));
    }),
    // Without hints, a store may need more frequent requests.
    check('one that asks in time finds a dead holder gone', ['queue', 'watch'], async (bed) => {
      const b = bed.claim();
      await bed.enter(bed.claim({ ttlMs: bed.ttlMs }));
      let status = await bed.enter(b);
      // A clock with large steps says more than once that it is not yet there.
      const most = 3 + Math.floor(bed.slackMs / 250);
      let asked = 0;
      while (status.state === 'waiting') {
        assert.ok(++asked <= most, `${most} questions are enough, rounding included`);
        await bed.sleep(status.retryInMs + 1);
        status = await bed.beat(b);
      }
      held(status);
    }),
    check('to be admitted does not extend a claim', ['queue'], async (bed) => {
      const [a, b] = await bed.entered({}, {});
      const { leftMs } = waiting(await bed.enter(b));
      const most = await bed.age(leftMs);
      await bed.leave(a);
      const admitted = held(await bed.enter(b));
      assert.ok(admitted.leftMs <= most, `${leftMs}, ${admitted.leftMs}`);
    }),
    check('a dead waiter that was admitted makes way within its TTL', ['queue'], async (bed) => {
      const [a, dying, c] = await bed.entered({}, { ttlMs: 2 * bed.ttlMs }, {});
      await bed.leave(a);
      await bed.untilHeld(c);
      gone(await bed.beat(dying));
    }),
    check('hundreds of dead claims vanish within one TTL', ['queue'], async (bed) => {
      const ttlMs = 5 * bed.ttlMs;
      const dead = Array.from({ length: 3 * MAX_BATCH }, () => bed.claim({ ttlMs }));
      // On a busy machine a store may refuse claims that waited for their turn for a whole life.
      await Promise.allSettled(dead.map((each) => bed.enter(each)));
      const survivor = bed.claim();
      const from = bed.clock.now();
      // Where it took a whole life to let them in, all of them are dead by now.
      const first = await bed.enter(survivor);
      if (first.state !== 'held') waiting(first);
      await bed.untilHeld(survivor);
      // One TTL each, in turn, would take 300 of them; the margin is for a machine under load.
      assert.ok(bed.clock.now() - from < 3 * ttlMs, 'they died one after the other');
      assert.deepEqual(await bed.counts(), [1, 0]);
    }),
    check('a holder whose answer was lost blocks others for one TTL', ['queue'], async (bed) => {
      const [lost] = await bed.entered({ ttlMs: bed.ttlMs });
      const b = bed.claim();
      waiting(await bed.enter(b));
      // The client repeats its claim, which is no heartbeat.
      await bed.until('the claim had ended', async () => {
        const { state } = await bed.enter(lost);
        return state !== 'held';
      });
      await bed.leave(lost);
      await bed.untilHeld(b);
    }),
    {
      name: 'a claim of many minutes without a heartbeat dies after them, even if others live on',
      needs: ['leaps of time'],
      limitMs: 3 * LONG_LIFE,
      async run(bed) {
        const of = (name: string) => bed.claimOn(name, { ttlMs: LONG_LIFE });
        const [kept, lost] = [of('kept'), of('lost')];
        await bed.enter(kept);
        for (let minutes = 1; minutes < 25; minutes++) {
          await bed.leap(MINUTE);
          // It ends at minute 16, four minutes before a heartbeat of the other.
          if (minutes === 1) held(await bed.enter(lost));
          // As rarely as core sends heartbeats.
          if (minutes % 5 === 0) held(await bed.beat(kept));
          const passer = of('passer');
          held(await bed.enter(passer));
          await bed.leave(passer);
        }
        await bed.untilDead(lost);
        gone(await bed.beat(lost));
        held(await bed.beat(kept));
      },
    },
    check('claims outlive the connection that made them', ['queue'], async (bed) => {
      const other = await bed.connect();
      const [a, b] = [bed.claim(), bed.claim()];
      held(await bed.enter(a, other));
      waiting(await bed.enter(b, other));
      await other.close?.();
      held(await bed.beat(a));
      waiting(await bed.beat(b));
      await bed.leave(a);
      held(await bed.beat(b));
    }),
  ],
};
