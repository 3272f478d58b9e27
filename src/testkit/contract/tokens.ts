import assert from 'node:assert/strict';
import { MAX_PERMITS } from '../../contract/store.ts';
import { check, ENDS, grown, held, hold, type Topic } from '../case.ts';

export const tokens: Topic = {
  topic: 'tokens',
  promise: 'its place in the order, and its token once admitted.',
  needs: ['tokens'],
  cases: [
    ...(['released', 'expired', 'evicted'] as const).map((end) =>
      check(`tokens grow after a hold that was ${end}`, ENDS[end], async (bed) => {
        let last = 0n;
        for (let i = 0; i < 3; i++) {
          const { claim, token } = await hold(bed, end === 'expired' ? { ttlMs: bed.ttlMs } : {});
          last = grown(last, token);
          await bed.end(end, claim, token);
        }
      }),
    ),
    check('tokens grow from holder to waiter', ['queue'], async (bed) => {
      const claims = Array.from({ length: 5 }, () => bed.claim());
      await bed.enterAll(claims);
      let last = 0n;
      for (const each of claims) {
        last = grown(last, held(await bed.beat(each)).token);
        await bed.leave(each);
      }
    }),
    check('tokens grow although the resource was idle and looked at', async (bed) => {
      const [a, b] = [bed.claim(), bed.claim()];
      const before = held(await bed.enter(a)).token;
      await bed.leave(a);
      // Long enough for a store to forget an idle resource.
      await bed.sleep(2 * bed.ttlMs);
      assert.equal((await bed.look()).holders.length, 0);
      grown(before, held(await bed.enter(b)).token);
    }),
    check('tokens grow over a refused try and a waiter that left', ['queue'], async (bed) => {
      const [a, b, c] = [bed.claim(), bed.claim(), bed.claim()];
      const before = held(await bed.enter(a)).token;
      await bed.enter(b);
      await bed.enter(bed.claim({ queue: false }));
      await bed.leave(b);
      await bed.leave(a);
      grown(before, held(await bed.enter(c)).token);
    }),
    check('tokens grow although the kind of lock changes', ['permits'], async (bed) => {
      const kinds = ['permits', 'mutex', 'read', 'permits', 'mutex', 'write'] as const;
      let last = 0n;
      for (const kind of kinds) {
        const whole = kind === 'write' ? MAX_PERMITS : 1;
        const limit = kind === 'mutex' ? 1 : kind === 'permits' ? 5 : MAX_PERMITS;
        const { claim, token } = await hold(bed, { kind, permits: whole, limit });
        last = grown(last, token);
        await bed.leave(claim);
      }
    }),
    check('tokens grow between connections', async (bed) => {
      const stores = [bed.store, await bed.connect(), await bed.connect()];
      let last = 0n;
      for (let i = 0; i < 6; i++) {
        const store = stores[i % 3];
        const claim = bed.claim();
        last = grown(last, held(await bed.enter(claim, store)).token);
        await store?.release([claim]);
      }
    }),
    check('a hold keeps one token, and it is the number that others see', async (bed) => {
      const { claim: a, token } = await hold(bed);
      for (const status of [await bed.beat(a), await bed.enter(a), await bed.beat(a)]) {
        assert.equal(held(status).token, token);
      }
      assert.equal((await bed.look()).holders[0]?.number, token);
    }),
    check('every connection names the same lineage', async (bed) => {
      const other = await bed.connect();
      await bed.enter(bed.claim());
      await bed.enter(bed.claim({ resource: bed.name('other') }), other);
      assert.equal(typeof bed.store.lineage, 'string');
      assert.notEqual(bed.store.lineage, '');
      assert.equal(other.lineage, bed.store.lineage);
    }),
  ],
};
