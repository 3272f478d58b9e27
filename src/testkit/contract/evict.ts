import assert from 'node:assert/strict';
import { check, gone, held, hold, type Topic, waiting } from '../case.ts';
import { watchAll } from './hints.ts';

export const evict: Topic = {
  topic: 'evict',
  promise: 'Ends the claim with this public number: with its TTL, or `now`.',
  needs: ['evict', 'tokens'],
  cases: [
    check('an evicted holder is told, and stays until its TTL ends', ['queue'], async (bed) => {
      const [a, b] = [bed.claim({ ttlMs: 8 * bed.ttlMs }), bed.claim()];
      const from = bed.clock.now();
      const { token } = held(await bed.enter(a));
      await bed.enter(b);
      assert.equal(await bed.evict({ token, now: false }), true);
      gone(await bed.beat(a), 'evicted');
      assert.equal((await bed.look()).holders[0]?.number, token);
      await bed.until('b was admitted', async () => {
        // A heartbeat of the evicted must not move its end.
        gone(await bed.beat(a));
        return (await bed.beat(b)).state === 'held';
      });
      bed.lasted(from, a.ttlMs);
    }),
    check('an evicted claim is told the reason, word for word', ['queue'], async (bed) => {
      const reason = `hangs "since" 5 o'clock;\n50 % of \\ 😀 ${'é'.repeat(400)}`;
      for (const now of [false, true]) {
        const resource = bed.name(String(now));
        const [a, b] = await bed.entered({ resource }, { resource });
        const { holders, waiters } = await bed.look(resource);
        for (const { number } of [...waiters, ...holders]) {
          await bed.store.evict?.(resource, number, { reason, now });
        }
        assert.equal(gone(await bed.beat(a), 'evicted').detail, reason);
        assert.equal(gone(await bed.beat(b), 'evicted').detail, reason);
      }
    }),
    check('evicted now, a holder makes way at once', ['queue'], async (bed) => {
      const { claim: a, token } = await hold(bed);
      const [b] = await bed.entered({});
      assert.equal(await bed.evict({ token, now: true }), true);
      held(await bed.beat(b));
      gone(await bed.beat(a), 'evicted');
      assert.equal((await bed.look()).holders.length, 1);
    }),
    check('an evicted claim that still holds may be evicted now', ['queue'], async (bed) => {
      const { claim: a, token } = await hold(bed);
      const [b] = await bed.entered({});
      await bed.evict({ token, now: false });
      assert.equal(await bed.evict({ token, now: true }), true);
      assert.equal(await bed.evict({ token, now: true }), false);
      held(await bed.beat(b));
      gone(await bed.beat(a), 'evicted');
    }),
    check('an evicted waiter leaves the queue and is told', ['queue'], async (bed) => {
      const [a, b, c] = await bed.entered({}, {}, {});
      const [first] = (await bed.look()).waiters;
      assert.equal(await bed.evict({ token: first?.number ?? 0n, now: false }), true);
      gone(await bed.beat(b), 'evicted');
      await bed.leave(a);
      held(await bed.beat(c));
    }),
    check('evicted only if it waits, a holder stays', ['queue', 'replaces'], async (bed) => {
      const [a, b, c] = await bed.entered({}, {}, {});
      const { holders, waiters } = await bed.look();
      const eviction = { reason: 'test', now: false, waiting: true };
      const evicts = (number = 0n) => bed.store.evict?.(a.resource, number, eviction);
      assert.equal(await evicts(holders[0]?.number), false);
      assert.equal(await evicts(waiters[0]?.number), true);
      held(await bed.beat(a));
      gone(await bed.beat(b), 'evicted');
      gone(await bed.enter(b), 'evicted');
      waiting(await bed.beat(c));
    }),
    check('released with `after` before, it ends as released', ['queue'], async (bed) => {
      const { claim: a, token } = await hold(bed);
      const [b] = await bed.entered({});
      await bed.leave(a, { ms: bed.ttlMs });
      assert.equal(await bed.evict({ token, now: false }), true);
      const { takeover } = await bed.untilHeld(b);
      assert.notEqual(takeover?.reason, 'evicted');
    }),
    check('evicting a claim that is not there returns false and harms no other', async (bed) => {
      const { claim: a, token } = await hold(bed);
      assert.equal(await bed.evict({ token: token + 1n, now: true }), false);
      assert.equal(await bed.evict({ resource: bed.name('other'), token, now: true }), false);
      held(await bed.beat(a));
    }),
    check('a holder that never renewed keeps its number', ['queue'], async (bed) => {
      const { claim, token } = await hold(bed);
      for (const name of ['b', 'c', 'd']) await hold(bed, { resource: bed.name(name) });
      for (let looks = 0; looks < 2; looks++) {
        assert.equal((await bed.look()).holders[0]?.number, token);
      }
      assert.equal(await bed.evict({ token, now: true }), true);
      gone(await bed.beat(claim), 'evicted');
    }),
    check('an evicted claim cannot come back by the same id', async (bed) => {
      for (const now of [false, true]) {
        const { claim, token } = await hold(bed, { resource: bed.name(`now ${now}`) });
        await bed.evict({ resource: claim.resource, token, now });
        gone(await bed.enter(claim), 'evicted');
      }
    }),
    check('an evicted holder may still release', ['queue'], async (bed) => {
      const { claim: a, token } = await hold(bed);
      const [b] = await bed.entered({});
      await bed.evict({ token, now: false });
      assert.equal(await bed.leave(a), true);
      held(await bed.beat(b));
    }),
    check('other holders of a semaphore stay', ['queue', 'permits'], async (bed) => {
      const of = () => bed.claim({ kind: 'permits', limit: 2 });
      const [a, b, c] = [of(), of(), of()];
      const { token } = held(await bed.enter(a));
      await bed.enterAll([b, c]);
      await bed.evict({ token, now: true });
      held(await bed.beat(b));
      held(await bed.beat(c));
    }),
    check('an evicted claim is woken, so that it asks', ['watch'], async (bed) => {
      const a = bed.claim();
      let wakes = 0;
      await bed.watch(a, () => wakes++);
      const { token } = held(await bed.enter(a));
      await bed.evict({ token, now: false });
      await bed.until('the holder was told', () => wakes > 0);
    }),
    check('evicting now tells the next in the queue', ['queue', 'watch'], async (bed) => {
      const watched = await watchAll(bed, [bed.claim(), bed.claim()]);
      const { token } = held(await bed.enter(watched.claim(0)));
      await bed.evict({ token, now: true });
      await bed.until('the waiter was told', () => watched.woken().includes(1));
    }),
  ],
};
