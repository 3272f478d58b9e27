import assert from 'node:assert/strict';
import { type Claim, type Kept, MAX_KEPT_BYTES, MAX_KEPT_MS } from '../../contract/store.ts';
import { check, ENDS, gone, held, hold, type Topic, waiting } from '../case.ts';
import { LONG_MS, type TestBed } from '../test-bed.ts';

/** Longer than any case, in ms. */
const MINUTE = 60_000;

/** Ways not to hold, and their needs. */
const NEEDS = { 'never entered': [], waiting: ['queue'], ...ENDS } as const;

export const keep: Topic = {
  topic: 'keep and recall',
  promise: "Keeps a text about the claim's resource for so long from now",
  needs: ['keep', 'recall'],
  cases: [
    check('what a holder keeps is recalled, word for word, on every connection', async (bed) => {
      const other = await bed.connect();
      assert.equal(await bed.store.recall?.(bed.name()), undefined);
      const text = `{"who":"é 😀 \\ '%_\n\u0001"}`;
      await keeps(bed, { text, ms: MINUTE });
      for (const store of [bed.store, other]) {
        const kept = await store.recall?.(bed.name());
        assert.equal(kept?.text, text);
        const { leftMs } = kept as Kept;
        assert.ok(leftMs > MINUTE / 2 && leftMs <= MINUTE * 1.2 + bed.slackMs, `${leftMs} ms`);
      }
      assert.equal(await bed.store.recall?.(bed.name('another')), undefined);
    }),
    check('an empty text and the longest one are kept whole', async (bed) => {
      for (const text of ['', '0123456789abcdé'.repeat(MAX_KEPT_BYTES / 16)]) {
        await keeps(bed, { text, ms: MINUTE });
        assert.equal((await bed.store.recall?.(bed.name()))?.text, text);
      }
    }),
    check('the last record counts, for its own time, and 0 ms forgets it', async (bed) => {
      const { claim: a } = await hold(bed);
      const say = (text: string, ms: number) => bed.store.keep?.(a, { text, ms });
      assert.equal(await say('first', MINUTE), true);
      assert.equal(await say('second', 2 * MINUTE), true);
      assert.equal(await say('second', 2 * MINUTE), true);
      const kept = await bed.store.recall?.(a.resource);
      assert.equal(kept?.text, 'second');
      assert.ok(kept.leftMs > MINUTE * 1.5, `${kept.leftMs} ms`);
      assert.equal(await say('', 0), true);
      assert.equal(await bed.store.recall?.(a.resource), undefined);
      assert.equal(await say('', 0), true);
      held(await bed.beat(a));
    }),
    check('a record is kept for its time, and no longer', async (bed) => {
      const from = bed.clock.now();
      const ms = 2 * bed.ttlMs;
      await keeps(bed, { text: 'for a while', ms });
      await bed.until('it was forgotten', async () => {
        return (await bed.store.recall?.(bed.name())) === undefined;
      });
      bed.lasted(from, ms);
    }),
    check('a record may be kept for ten years', async (bed) => {
      const { claim: a } = await hold(bed);
      assert.equal(await bed.store.keep?.(a, { text: 'done', ms: MAX_KEPT_MS }), true);
      const { leftMs = 0 } = (await bed.store.recall?.(a.resource)) ?? {};
      const most = MAX_KEPT_MS * 1.2;
      assert.ok(leftMs > MAX_KEPT_MS - MINUTE && leftMs <= most, `${leftMs} ms`);
      // So that no record stays on a user's own server for that long.
      assert.equal(await bed.store.keep?.(a, { text: '', ms: 0 }), true);
    }),
    check('a record outlives claim and connection, and is in no queue', async (bed) => {
      const store = await bed.connect();
      const a = bed.claim();
      held(await bed.enter(a, store));
      await store.keep?.(a, { text: 'done', ms: MINUTE });
      assert.deepEqual(await store.release([a]), [true]);
      assert.deepEqual(await bed.counts(), [0, 0]);
      // A claim of another kind, where the store has one.
      await hold(bed, bed.store.traits.permits ? { kind: 'permits', limit: 3 } : {});
      assert.equal((await bed.store.recall?.(a.resource))?.text, 'done');
    }),
    check('a resource that has only a record is not listed', ['list'], async (bed) => {
      await keeps(bed, { text: 'done', ms: MINUTE });
      assert.deepEqual(await bed.list(), []);
    }),
    ...(['never entered', 'waiting', 'released', 'expired', 'evicted'] as const).map((how) =>
      check(`a claim that does not hold keeps nothing: ${how}`, NEEDS[how], async (bed) => {
        const { claim, holder } = await without(bed, how);
        const record = { text: 'not mine', ms: MINUTE };
        assert.equal(await bed.store.keep?.(claim, record), false);
        assert.equal(await bed.store.recall?.(claim.resource), undefined);
        await keeps(bed, { text: 'mine', ms: MINUTE }, holder);
        for (const ms of [MINUTE, 0]) {
          assert.equal(await bed.store.keep?.(claim, { text: 'not mine', ms }), false);
        }
        assert.equal((await bed.store.recall?.(claim.resource))?.text, 'mine');
      }),
    ),
    ...(['evicted', 'released'] as const).map((how) =>
      check(`a claim that is to end keeps nothing: ${how}`, NEEDS[how], async (bed) => {
        const { claim: a, token } = await hold(bed);
        assert.equal(await bed.store.keep?.(a, { text: 'before', ms: MINUTE }), true);
        if (how === 'released') await bed.leave(a, { ms: LONG_MS });
        else await bed.evict({ token, now: false });
        for (const ms of [MINUTE, 0]) {
          assert.equal(await bed.store.keep?.(a, { text: 'after', ms }), false);
        }
        assert.equal((await bed.store.recall?.(a.resource))?.text, 'before');
      }),
    ),
    check('keeping is no heartbeat', async (bed) => {
      const { claim: a } = await hold(bed, { ttlMs: bed.ttlMs });
      await bed.until('the claim was dead', async () => {
        return (await bed.store.keep?.(a, { text: 'still here', ms: MINUTE })) === false;
      });
      gone(await bed.beat(a));
    }),
    check('many records at a time, each of its own resource', async (bed) => {
      const claims = Array.from({ length: 50 }, (_, i) => bed.claimOn(`${i}`));
      for (const status of await bed.enterBatch(claims)) held(status);
      const say = (claim: Claim) => bed.store.keep?.(claim, { text: claim.resource, ms: MINUTE });
      const all = (await Promise.all(claims.map(say))).every((kept) => kept === true);
      assert.ok(all, 'each record must be kept');
      for (const { resource } of claims) {
        assert.equal((await bed.store.recall?.(resource))?.text, resource);
      }
    }),
  ],
};

/** A claim that does not hold, and one that holds instead, if needed. */
async function without(bed: TestBed, how: keyof typeof NEEDS) {
  const claim = bed.claim(how === 'expired' ? { ttlMs: bed.ttlMs } : {});
  if (how === 'never entered') return { claim };
  if (how === 'waiting') {
    const { claim: holder } = await hold(bed);
    waiting(await bed.enter(claim));
    return { claim, holder };
  }
  const { token } = held(await bed.enter(claim));
  await bed.end(how, claim, token);
  return { claim };
}

/** The holder keeps the record; without one, a new claim holds, keeps it and leaves. */
async function keeps(bed: TestBed, record: { text: string; ms: number }, holder?: Claim) {
  const claim = holder ?? bed.claim();
  held(await bed.enter(claim));
  assert.equal(await bed.store.keep?.(claim, record), true);
  if (!holder) await bed.leave(claim);
}
