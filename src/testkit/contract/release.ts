import assert from 'node:assert/strict';
import type { Claim } from '../../contract/store.ts';
import { check, gone, held, hold, type Topic, waiting } from '../case.ts';
import { LONG_MS } from '../test-bed.ts';
import { watchAll } from './hints.ts';

export const release: Topic = {
  topic: 'release',
  promise: 'Release is final',
  cases: [
    check('releasing returns true once, then false, and frees the resource', async (bed) => {
      const [a] = await bed.entered({});
      assert.equal(await bed.leave(a), true);
      assert.equal(await bed.leave(a), false);
      held(await bed.enter(bed.claim()));
    }),
    check('releasing by another id frees nothing', async (bed) => {
      const [a] = await bed.entered({});
      assert.equal(await bed.leave(bed.claim()), false);
      held(await bed.beat(a));
      gone(await bed.enter(bed.claim({ queue: false })), 'refused');
    }),
    check('a waiter that leaves does not disturb the others', ['queue'], async (bed) => {
      const claims = Array.from({ length: 5 }, () => bed.claim());
      const [a, first, c, middle, e] = claims as [Claim, Claim, Claim, Claim, Claim];
      await bed.enterAll(claims);
      for (const each of [first, middle]) {
        assert.equal(await bed.leave(each), true);
        gone(await bed.beat(each));
        held(await bed.beat(a));
      }
      waiting(await bed.beat(c));
      await bed.leave(a);
      held(await bed.beat(c));
      waiting(await bed.beat(e));
      await bed.leave(c);
      held(await bed.beat(e));
    }),
    check('a claim that arrives after its release is refused for good', async (bed) => {
      const late = bed.claim();
      assert.equal(await bed.leave(late), false);
      gone(await bed.enter(late));
      gone(await bed.enter({ ...late, queue: false }));
      assert.equal((await bed.look()).holders.length, 0);
      const { claim: other } = await hold(bed);
      gone(await bed.enter(late));
      held(await bed.beat(other));
    }),
    check('a late copy of a waiter is refused after its release', ['queue'], async (bed) => {
      const [, b] = await bed.entered({}, {});
      await bed.leave({ ...b, unanswered: true });
      gone(await bed.enter(b));
      assert.equal((await bed.look()).waiters.length, 0);
    }),
    check('a late copy is refused for as long as the claim could have lived', async (bed) => {
      const ttlMs = 16 * bed.ttlMs;
      const { claim: a } = await hold(bed, { ttlMs });
      assert.equal(await bed.leave({ ...a, unanswered: true }), true);
      const late = bed.claimOn('late', { ttlMs });
      await bed.leave(late);
      // A good part of the TTL, with room for a machine under load.
      await bed.sleep(ttlMs / 3);
      for (const each of [a, late]) {
        gone(await bed.enter(each));
        assert.equal((await bed.look(each.resource)).holders.length, 0);
      }
    }),
    check('a late copy of a claim that has died is refused after its release', async (bed) => {
      const { claim: a } = await hold(bed, { ttlMs: bed.ttlMs });
      await bed.untilDead(a);
      assert.equal(await bed.leave({ ...a, ttlMs: LONG_MS, unanswered: true }), false);
      gone(await bed.enter(a));
      assert.equal((await bed.look()).holders.length, 0);
    }),
    check('released with `after`, it keeps the resource that long', ['queue'], async (bed) => {
      const [a, b] = await bed.entered({}, {});
      const from = bed.clock.now();
      assert.equal(await bed.leave(a, { ms: bed.ttlMs }), true);
      const { leftMs } = (await bed.look()).holders[0] ?? assert.fail('it is still held');
      assert.ok(leftMs <= bed.ttlMs + bed.slackMs, `${leftMs} of ${bed.ttlMs} ms`);
      const { takeover } = await bed.untilHeld(b);
      bed.lasted(from, bed.ttlMs);
      // Without tokens, no hold can name the one before it.
      if (bed.store.traits.tokens) assert.equal(takeover?.reason, 'released');
    }),
    check('released with `after`, a claim may end later than its TTL', async (bed) => {
      const [a] = await bed.entered({ ttlMs: bed.ttlMs });
      await bed.leave(a, { ms: 20 * bed.ttlMs });
      // Past the TTL, and the rounding of the store's clock.
      await bed.sleep(bed.ttlMs + 2 * bed.slackMs);
      assert.equal((await bed.look()).holders.length, 1);
      gone(await bed.enter(bed.claim({ queue: false })), 'refused');
    }),
    check('a waiter behind a release with `after` is told its end', ['queue'], async (bed) => {
      const [a, b] = await bed.entered({}, {});
      const ms = 10 * bed.ttlMs;
      await bed.leave(a, { ms });
      const { retryInMs } = waiting(await bed.beat(b));
      assert.ok(retryInMs > 0 && retryInMs <= ms + bed.slackMs, `${retryInMs} of ${ms} ms`);
    }),
    check('the first waiter hears of a release with `after`', ['queue', 'watch'], async (bed) => {
      const watched = await watchAll(bed, [bed.claim(), bed.claim()]);
      await bed.leave(watched.claim(0), { ms: bed.ttlMs });
      // Either when to ask, or that it has ended.
      await bed.until('the waiter was told', () => watched.woken().includes(1));
      const hint = watched.hint(1);
      if (hint?.state === 'waiting') {
        const { retryInMs } = hint;
        assert.ok(retryInMs <= bed.ttlMs + bed.slackMs, `${retryInMs} of ${bed.ttlMs} ms`);
      }
      await bed.untilHeld(watched.claim(1));
    }),
    check('claims released together with `after` all keep their resources', async (bed) => {
      const claims = ['a', 'b', 'c'].map((name) => bed.claimOn(name));
      await bed.enterBatch(claims);
      const ms = 10 * bed.ttlMs;
      assert.deepEqual(await bed.leaveBatch(claims, { after: { ms } }), [true, true, true]);
      for (const { resource } of claims) {
        const [holder] = (await bed.look(resource)).holders;
        assert.ok(holder && holder.leftMs <= ms + bed.slackMs, `${holder?.leftMs} of ${ms} ms`);
        gone(await bed.enter(bed.claim({ resource, queue: false })), 'refused');
      }
    }),
    check('released with `after`, a claim is final: nothing prolongs it', async (bed) => {
      const [a] = await bed.entered({});
      const ms = 10 * bed.ttlMs + bed.pauseMs;
      await bed.leave(a, { ms });
      const [before] = (await bed.look()).holders;
      const most = await bed.age(before?.leftMs ?? 0);
      await bed.leave(a, { ms });
      const [after] = (await bed.look()).holders;
      assert.ok(before && after, 'it is still held');
      assert.ok(after.leftMs <= most, `${after.leftMs} ms are left, more than ${most}`);
      gone(await bed.beat(a));
      const { leftMs = 0 } = (await bed.look()).holders[0] ?? {};
      assert.ok(leftMs <= most, `${leftMs} ms are left, more than ${most}`);
      gone(await bed.enter(a));
    }),
    check('a waiter released with `after` leaves at once', ['queue'], async (bed) => {
      const [a, b] = await bed.entered({}, {});
      await bed.leave(b, { ms: 10 * bed.ttlMs });
      assert.equal((await bed.look()).waiters.length, 0);
      await bed.leave(a);
      held(await bed.enter(bed.claim({ queue: false })));
    }),
  ],
};
