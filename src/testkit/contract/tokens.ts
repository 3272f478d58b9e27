import assert from 'node:assert/strict';
import { type Claim, type ClaimStatus, MAX_PERMITS } from '../../contract/store.ts';
import { check, ENDS, gone, grown, held, hold, type Topic, waiting } from '../case.ts';
import type { TestBed } from '../test-bed.ts';

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
      await bed.enter(bed.claimOn('other'), other);
      assert.equal(typeof bed.store.lineage, 'string');
      assert.notEqual(bed.store.lineage, '');
      assert.equal(other.lineage, bed.store.lineage);
    }),
  ],
};

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
      const claims = ['a', 'b', 'c'].map((name) => bed.claimOn(name));
      const tokens = (await bed.enterBatch(claims)).map((status) => held(status).token);
      const missing = bed.claimOn('d');
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
