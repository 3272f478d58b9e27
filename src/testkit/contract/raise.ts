import assert from 'node:assert/strict';
import type { Claim, ClaimStatus } from '../../contract/store.ts';
import { check, ENDS, gone, grown, held, hold, type Topic, waiting } from '../case.ts';
import type { TestBed } from '../test-bed.ts';

/** More than a store's own numbers grow during a case, even if they are microseconds. */
const FAR = 100_000_000n;

export const raise: Topic = {
  topic: 'raise',
  promise: 'Raises the number of each held claim to at least the given one',
  needs: ['raise', 'tokens'],
  cases: [
    check('a raised holder has at least that number, and no raise lowers it', async (bed) => {
      const { claim: a, token } = await hold(bed);
      const raised = held(await lift(bed, a, token + FAR)).token;
      assert.ok(raised >= token + FAR, `${raised} is less than ${token + FAR}`);
      for (const status of [await bed.beat(a), await bed.enter(a)]) {
        assert.equal(held(status).token, raised);
      }
      for (const number of [token + FAR, token, 0n]) {
        assert.equal(held(await lift(bed, a, number)).token, raised);
      }
      assert.equal((await bed.look()).holders[0]?.number, raised);
    }),
    ...(['released', 'expired', 'evicted'] as const).map((end) =>
      check(`after a raised one was ${end}, claims get greater numbers`, ENDS[end], async (bed) => {
        const a = bed.claim(end === 'expired' ? { ttlMs: bed.ttlMs } : {});
        const { token } = held(await bed.enter(a));
        const raised = held(await lift(bed, a, token + FAR)).token;
        await bed.end(end, a, raised);
        const { claim: b, token: next, takeover } = await hold(bed);
        grown(raised, next);
        if (end === 'expired') assert.equal(takeover?.token, raised);
        await bed.leave(b);
        grown(next, held(await bed.enter(bed.claim())).token);
      }),
    ),
    check('those that wait already are admitted with greater numbers', ['queue'], async (bed) => {
      const claims = [bed.claim(), bed.claim(), bed.claim(), bed.claim()];
      await bed.enterAll(claims);
      let last = 0n;
      // The last one comes when all others have gone.
      for (const [i, each] of [...claims, bed.claim()].entries()) {
        const { token } = held(await (i < claims.length ? bed.beat(each) : bed.enter(each)));
        grown(last, token);
        last = i < 2 ? held(await lift(bed, each, token + FAR)).token : token;
        await bed.leave(each);
      }
    }),
    check('a waiter is not raised, and raises no other claim', ['queue'], async (bed) => {
      const { claim: a, token } = await hold(bed);
      const [b] = await bed.entered({});
      waiting(await lift(bed, b, token + FAR));
      assert.equal(held(await bed.beat(a)).token, token);
      waiting(await bed.beat(b));
    }),
    check('raising a claim that is gone returns gone and creates nothing', async (bed) => {
      gone(await lift(bed, bed.claim(), FAR));
      const [released] = await bed.entered({});
      await bed.leave(released);
      gone(await lift(bed, released, FAR));
      assert.equal((await bed.look()).holders.length, 0);
    }),
    check('raising is no heartbeat', async (bed) => {
      const { claim: a, token } = await hold(bed);
      const most = await bed.age(a.ttlMs);
      const { leftMs } = held(await lift(bed, a, token + FAR));
      assert.ok(leftMs <= most, `${leftMs} ms are left`);
    }),
    check('each claim of a batch is raised to its own number', async (bed) => {
      const claims = ['a', 'b', 'c'].map((name) => bed.claim({ resource: bed.name(name) }));
      const tokens = (await bed.enterBatch(claims)).map((status) => held(status).token);
      const missing = bed.claim({ resource: bed.name('d') });
      const numbers = tokens.map((token, i) => token + BigInt(i) * FAR);
      const statuses = await bed.store.raise?.([...claims, missing], [...numbers, FAR]);
      assert.equal(statuses?.length, 4);
      for (const [i, number] of numbers.entries()) {
        const { token } = held(statuses[i]);
        assert.ok(token >= number, `${token} is less than ${number}`);
        assert.ok(token < number + FAR, `${token} is that of another claim`);
      }
      gone(statuses[3]);
    }),
  ],
};

async function lift(bed: TestBed, claim: Claim, number: bigint): Promise<ClaimStatus | undefined> {
  assert.ok(bed.store.raise, 'the store has raise()');
  return (await bed.store.raise([claim], [number]))[0];
}
