import assert from 'node:assert/strict';
import type { Claim, ClaimStatus, HandOver, Store } from '../../contract/store.ts';
import { check, gone, grown, held, hold, type Topic, waiting } from '../case.ts';
import type { TestBed } from '../test-bed.ts';

export const handOver: Topic = {
  topic: 'hand-over',
  promise: 'Passes the hold from one id to the other in one step',
  needs: ['handOver', 'queue', 'tokens'],
  cases: [
    check('a hold keeps its number on its way, and no other claim is admitted', async (bed) => {
      const { claim: a, token } = await hold(bed, { ttlMs: 8 * bed.ttlMs });
      const [b] = await bed.entered({});
      const holder = { ...a.holder, mark: 'in transit' };
      const ids = { from: a.id, to: bed.claim().id };
      gone(await pass(bed.store, { ...a, holder }, ids), 'handed-over');
      assert.deepEqual({ ...(await bed.look()).holders[0]?.holder }, holder);
      gone(await bed.enter(bed.claim({ queue: false })), 'refused');
      waiting(await bed.beat(b));
      const [other, taker] = [await bed.connect(), bed.claim()];
      const taken = held(await take(other, taker, ids.to));
      assert.equal(taken.token, token);
      assert.ok(taken.leftMs > a.ttlMs, `${taken.leftMs} ms are left`);
      assert.equal(held(await bed.beat(taker, other)).token, token);
      waiting(await bed.beat(b));
      const [shown] = (await bed.look()).holders;
      assert.deepEqual([{ ...shown?.holder }, shown?.ttlMs], [taker.holder, taker.ttlMs]);
      await other.release([taker]);
      const next = held(await bed.beat(b));
      grown(token, next.token);
      assert.deepEqual(next.takeover, { reason: 'released', token });
    }),
    check('the old id does nothing any more, and the new one may pass it on', async (bed) => {
      const { claim: a, transit } = await give(bed);
      const taker = bed.claim();
      for (const taken of [false, true]) {
        if (taken) held(await take(bed.store, taker, transit));
        gone(await bed.beat(a));
        gone(await bed.enter(a));
        assert.equal(await bed.leave(a), false);
        assert.notEqual(await bed.store.keep?.(a, { text: 'late', ms: 1_000 }), true);
        assert.deepEqual(await bed.counts(), [1, 0]);
      }
      gone(await pass(bed.store, a, { from: a.id, to: bed.claim().id }));
      held(await bed.beat(taker));
      const again = { from: taker.id, to: bed.claim().id };
      for (let i = 0; i < 2; i++) gone(await pass(bed.store, taker, again), 'handed-over');
      held(await take(bed.store, bed.claim(), again.to));
    }),
    check('a hold that is not taken has its TTL and no heartbeats', async (bed) => {
      const { claim: a } = await hold(bed, { ttlMs: 8 * bed.ttlMs });
      const [b] = await bed.entered({});
      await bed.sleep(bed.pauseMs);
      const from = bed.clock.now();
      const ids = { from: a.id, to: bed.claim().id };
      gone(await pass(bed.store, a, ids), 'handed-over');
      const { takeover } = await bed.until('b was admitted', async () => {
        gone(await bed.beat({ ...a, id: ids.to }));
        const status = await bed.beat(b);
        return status.state === 'held' ? status : undefined;
      });
      assert.equal(takeover?.reason, 'handed-over');
      bed.lasted(from, a.ttlMs);
      gone(await take(bed.store, bed.claim(), ids.to));
    }),
    check('a newcomer learns that it was not taken', ['traces of the dead'], async (bed) => {
      const { claim, token } = await give(bed, { ttlMs: bed.ttlMs });
      await bed.untilDead(claim);
      const { takeover } = held(await bed.enter(bed.claim()));
      assert.deepEqual(takeover, { reason: 'handed-over', token });
    }),
    check('of two that come, one gets it, and may ask again', async (bed) => {
      const { transit, token } = await give(bed);
      const stores = [bed.store, await bed.connect()];
      const takers = [bed.claim(), bed.claim()];
      const ask = () =>
        Promise.all(takers.map((each, i) => take(stores[i] as Store, each, transit)));
      const answers = await ask();
      const first = answers.findIndex(({ state }) => state === 'held');
      assert.equal(held(answers[first]).token, token);
      gone(answers[1 - first], 'resumed');
      assert.equal(held((await ask())[first]).token, token);
      await stores[first]?.release([takers[first] as Claim]);
      const late = await ask();
      // A late copy of its release may have left word of its own.
      gone(late[first]);
      gone(late[1 - first], 'resumed');
      assert.equal((await bed.look()).holders.length, 0);
    }),
    ...([true, false] as const).map((now) =>
      check(`evicted on its way, it goes to no claim; now: ${now}`, ['evict'], async (bed) => {
        const { transit, token } = await give(bed);
        assert.equal(await bed.evict({ token, now }), true);
        assert.equal(gone(await take(bed.store, bed.claim(), transit), 'evicted').detail, 'test');
        assert.equal((await bed.look()).holders.length, now ? 0 : 1);
      }),
    ),
    check('only a hold can be given, and only a given one taken', async (bed) => {
      const { claim: a } = await hold(bed);
      const [b] = await bed.entered({});
      const stranger = bed.claim();
      gone(await take(bed.store, bed.claim(), a.id));
      for (const each of [b, stranger]) {
        gone(await pass(bed.store, each, { from: each.id, to: bed.claim().id }));
      }
      waiting(await bed.beat(b));
      held(await bed.beat(a));
      await bed.leave(a, { ms: a.ttlMs });
      const { why } = gone(await pass(bed.store, a, { from: a.id, to: bed.claim().id }));
      assert.notEqual(why, 'handed-over');
    }),
    check('a request that comes after its sender has given up does nothing', async (bed) => {
      const { claim: a } = await hold(bed);
      const [b] = await bed.entered({});
      assert.equal(await bed.leave({ ...a, unanswered: true }), true);
      gone(await pass(bed.store, a, { from: a.id, to: bed.claim().id }));
      const ids = { from: b.id, to: bed.claim().id };
      gone(await pass(bed.store, b, ids), 'handed-over');
      const late = bed.claim();
      assert.equal(await bed.leave({ ...late, unanswered: true }), false);
      gone(await take(bed.store, late, ids.to));
      held(await take(bed.store, bed.claim(), ids.to));
    }),
    check('a part of the limit passes, and the other holders stay', ['permits'], async (bed) => {
      const of = (permits: number) => bed.claim({ kind: 'permits', permits, limit: 3 });
      const [a, other, c, taker] = [of(2), of(1), of(1), of(2)];
      await bed.enterAll([a, other, c]);
      const ids = { from: a.id, to: bed.claim().id };
      gone(await pass(bed.store, a, ids), 'handed-over');
      held(await take(bed.store, taker, ids.to));
      held(await bed.beat(other));
      waiting(await bed.beat(c));
      await bed.leave(taker);
      for (const each of [c, other]) held(await bed.beat(each));
    }),
    check('its taker hears of a waiter, and the waiter of its end', ['watch'], async (bed) => {
      const { transit } = await give(bed);
      const [taker, b] = [bed.claim(), bed.claim()];
      const told = { taker: 0, b: 0 };
      await bed.watch(taker, () => told.taker++);
      await bed.watch(b, () => told.b++);
      held(await take(bed.store, taker, transit));
      waiting(await bed.enter(b));
      await bed.until('the holder was told', () => told.taker > 0);
      const before = told.b;
      await bed.leave(taker);
      await bed.until('the waiter was told', () => told.b > before);
    }),
  ],
};

/** A new hold, which has been given away; under the id `transit` it waits for its taker. */
async function give(bed: TestBed, over: Partial<Claim> = {}) {
  const { claim, token } = await hold(bed, over);
  const transit = bed.claim().id;
  gone(await pass(bed.store, claim, { from: claim.id, to: transit }), 'handed-over');
  return { claim, token, transit };
}

function take(store: Store, taker: Claim, transit: string): Promise<ClaimStatus> {
  return pass(store, taker, { from: transit, to: taker.id });
}

async function pass(store: Store, claim: Claim, ids: HandOver): Promise<ClaimStatus> {
  assert.ok(store.handOver, 'the store has handOver()');
  return store.handOver(claim, ids);
}
