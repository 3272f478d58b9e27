import assert from 'node:assert/strict';
import { check, held, hold, type Topic, waiting } from '../case.ts';

export const takeover: Topic = {
  topic: 'takeover',
  promise:
    'How the previous hold of a resource ended, so that its successor can recover unfinished work.',
  needs: ['tokens', 'queue'],
  cases: [
    check('a waiter learns that the holder died, even if its process lives on', async (bed) => {
      const of = (name: string) => bed.claimOn(name, { ttlMs: 8 * bed.ttlMs });
      const [a, kept, b] = [of('a'), of('kept'), bed.claimOn('a')];
      const { token } = held(await bed.enter(a));
      held(await bed.enter(kept));
      waiting(await bed.enter(b));
      const { takeover } = await bed.until('b was held', async () => {
        held(await bed.beat(kept));
        const status = await bed.beat(b);
        return status.state === 'held' ? status : undefined;
      });
      assert.deepEqual(takeover, { reason: 'expired', token });
    }),
    ...(['', ', even after a look at the resource'] as const).map((looked) =>
      check(`a newcomer learns of a dead holder${looked}`, ['traces of the dead'], async (bed) => {
        const { claim: a, token } = await hold(bed, { ttlMs: bed.ttlMs });
        if (looked) await bed.untilDead(a);
        // Past the TTL, and the rounding of the store's clock.
        else await bed.sleep(bed.ttlMs + 2 * bed.slackMs);
        const { takeover } = held(await bed.enter(bed.claim()));
        assert.deepEqual(takeover, { reason: 'expired', token });
      }),
    ),
    check('a waiter learns that the hold before it was evicted', ['evict'], async (bed) => {
      const { token } = await hold(bed);
      const [b] = await bed.entered({});
      await bed.evict({ token, now: true });
      assert.deepEqual(held(await bed.beat(b)).takeover, { reason: 'evicted', token });
    }),
    check('a waiter learns of an eviction that ended with the TTL', ['evict'], async (bed) => {
      const [a, b] = [bed.claim({ ttlMs: bed.ttlMs }), bed.claim()];
      const { token } = held(await bed.enter(a));
      await bed.enter(b);
      await bed.evict({ token, now: false });
      assert.deepEqual((await bed.untilHeld(b)).takeover, { reason: 'evicted', token });
    }),
    check('a newcomer learns that the last holder was evicted', ['evict'], async (bed) => {
      const { token } = await hold(bed);
      await bed.evict({ token, now: true });
      const { takeover } = held(await bed.enter(bed.claim()));
      assert.deepEqual(takeover, { reason: 'evicted', token });
    }),
    check('a holder learns of the hold before its own, not of older ones', async (bed) => {
      const [, b, c] = await bed.entered({ ttlMs: bed.ttlMs }, {}, {});
      const { token } = await bed.untilHeld(b);
      await bed.leave(b);
      assert.deepEqual(held(await bed.beat(c)).takeover, { reason: 'released', token });
      await bed.leave(c);
      const { takeover } = held(await bed.enter(bed.claim()));
      assert.notEqual(takeover?.reason, 'expired');
    }),
    check('the first takes over from no other, and answers repeat a takeover', async (bed) => {
      const [a, b] = [bed.claim({ ttlMs: bed.ttlMs }), bed.claim()];
      const first = held(await bed.enter(a));
      assert.equal(first.takeover, undefined);
      await bed.enter(b);
      const { takeover } = await bed.untilHeld(b);
      assert.deepEqual(takeover, { reason: 'expired', token: first.token });
      assert.deepEqual(held(await bed.beat(b)).takeover, takeover);
      assert.deepEqual(held(await bed.enter(b)).takeover, takeover);
    }),
  ],
};
