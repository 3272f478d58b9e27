import assert from 'node:assert/strict';
import { type IfBusy, REPLACEABLE } from '../../contract/newest.ts';
import type { Claim } from '../../contract/store.ts';
import { check, gone, held, type Topic, waiting } from '../case.ts';
import type { TestBed } from '../test-bed.ts';

export const replace: Topic = {
  topic: 'replace',
  promise: 'Of a claim that may wait: which earlier ones it ends if it is not admitted at once.',
  needs: ['queue', 'replaces'],
  cases: [
    check('the newest takes the place of one that waits, and of no other', async (bed) => {
      const [a, b, c, d] = await bed.entered(marked(bed), marked(bed), {}, marked(bed));
      gone(await bed.beat(b), 'replaced');
      assert.equal((await bed.look()).waiters.length, 2);
      held(await bed.beat(a));
      await bed.leave(a);
      held(await bed.beat(c));
      waiting(await bed.beat(d));
      await bed.leave(c);
      held(await bed.beat(d));
    }),
    check('of many that come at once, one waits, and the holder stays', async (bed) => {
      const [a] = await bed.entered(marked(bed));
      const claims = Array.from({ length: 6 }, () => bed.claim(marked(bed)));
      await Promise.all(claims.map((claim) => bed.enter(claim)));
      assert.equal((await bed.look()).waiters.length, 1);
      const statuses = await Promise.all(claims.map((claim) => bed.beat(claim)));
      const left = statuses.filter(({ state }) => state !== 'waiting');
      for (const status of left) gone(status, 'replaced');
      assert.equal(left.length, claims.length - 1);
      held(await bed.beat(a));
    }),
    check('a repeated claim replaces none, and a replaced one does not come back', async (bed) => {
      const [, b, c, d] = await bed.entered({}, marked(bed, 'replace'), {}, marked(bed));
      gone(await bed.enter(b), 'replaced');
      waiting(await bed.enter(d));
      waiting(await bed.beat(c));
      assert.equal((await bed.look()).waiters.length, 2);
    }),
    check(
      'a replaced holder is told, stays until its TTL, and no longer',
      ['tokens'],
      async (bed) => {
        const a = bed.claim({ ...marked(bed), ttlMs: 8 * bed.ttlMs });
        const from = bed.clock.now();
        const { token } = held(await bed.enter(a));
        const [b] = await bed.entered(marked(bed, 'replace'));
        gone(await bed.beat(a), 'replaced');
        assert.equal((await bed.look()).holders[0]?.number, token);
        const { takeover } = await bed.until('b was admitted', async () => {
          // A heartbeat of the replaced must not move its end.
          gone(await bed.beat(a));
          const status = await bed.beat(b);
          return status.state === 'held' ? status : undefined;
        });
        const kept = bed.clock.now() - from;
        assert.ok(kept >= a.ttlMs - bed.slackMs, `it was kept for ${kept} ms`);
        assert.deepEqual(takeover, { reason: 'evicted', token });
      },
    ),
    check('a claim that is admitted at once replaces none', ['permits'], async (bed) => {
      const two = { kind: 'permits', limit: 2 } as const;
      const [a] = await bed.entered({ ...marked(bed), ...two });
      held(await bed.enter(bed.claim({ ...marked(bed, 'replace'), ...two })));
      held(await bed.beat(a));
    }),
    {
      name: 'the newest finds room in place of another, and one that finds none ends none',
      fixture: { maxWaiters: 1 },
      async run(bed) {
        const [a, b, c] = await bed.entered(marked(bed), marked(bed), marked(bed));
        gone(await bed.beat(b), 'replaced');
        await bed.leave(c);
        await bed.entered({});
        gone(await bed.enter(bed.claim(marked(bed, 'replace'))), 'full');
        held(await bed.beat(a));
      },
    },
  ],
};

/** The terms of a claim that newer ones may replace. */
function marked(bed: TestBed, ifBusy: IfBusy = 'replace-waiting'): Partial<Claim> {
  return { ifBusy, holder: { ...bed.claim().holder, mark: REPLACEABLE } };
}
