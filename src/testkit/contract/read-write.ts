import assert from 'node:assert/strict';
import { type Claim, type Kind, MAX_PERMITS } from '../../contract/store.ts';
import { check, gone, held, hold, states, type Topic, waiting } from '../case.ts';
import { LONG_MS, type TestBed } from '../test-bed.ts';

/** A kind, and those that may not be in one queue with it. */
const STRANGERS: readonly (readonly [Kind, ...Kind[]])[] = [
  ['mutex', 'permits', 'read', 'write'],
  ['permits', 'mutex', 'read', 'write'],
  ['read', 'mutex', 'permits'],
  ['write', 'mutex', 'permits'],
];

const SHAPE: { readonly [K in Kind]: { readonly permits: number; readonly limit: number } } = {
  mutex: { permits: 1, limit: 1 },
  permits: { permits: 1, limit: 5 },
  read: { permits: 1, limit: MAX_PERMITS },
  write: { permits: MAX_PERMITS, limit: MAX_PERMITS },
};

export const readWrite: Topic = {
  topic: 'readers and writers',
  promise: '`read` and `write` share a queue; every other kind has its own.',
  needs: ['queue', 'permits'],
  cases: [
    check('readers share, and a writer waits for all of them and is then alone', async (bed) => {
      const [r, s, w] = [of(bed, 'read'), of(bed, 'read'), of(bed, 'write')];
      assert.equal(states(await bed.enterAll([r, s, w])), 'held held waiting');
      await bed.leave(r);
      waiting(await bed.beat(w));
      await bed.leave(s);
      held(await bed.beat(w));
      assert.equal((await bed.look()).holders.length, 1);
    }),
    check('a waiting writer stops later readers, so that it does not starve', async (bed) => {
      const [r, w, late] = [of(bed, 'read'), of(bed, 'write'), of(bed, 'read')];
      assert.equal(states(await bed.enterAll([r, w, late])), 'held waiting waiting');
      gone(await bed.enter({ ...of(bed, 'read'), queue: false }), 'refused');
      await bed.leave(r);
      held(await bed.beat(w));
      waiting(await bed.beat(late));
    }),
    check('a departing writer lets in all readers up to the next writer', async (bed) => {
      const first = of(bed, 'write');
      const later = [of(bed, 'read'), of(bed, 'read'), of(bed, 'write'), of(bed, 'read')];
      const entered = states(await bed.enterAll([first, ...later]));
      assert.equal(entered, 'held waiting waiting waiting waiting');
      await bed.leave(first);
      const statuses = await Promise.all(later.map((each) => bed.beat(each)));
      assert.equal(states(statuses), 'held held waiting waiting');
    }),
    check('a waiting writer that leaves lets the readers behind it in', async (bed) => {
      const [r, w, late] = [of(bed, 'read'), of(bed, 'write'), of(bed, 'read')];
      await bed.enterAll([r, w, late]);
      await bed.leave(w);
      // It has held nothing that one behind it could take over.
      assert.equal(held(await bed.beat(late)).takeover, undefined);
      held(await bed.beat(r));
    }),
    check('a dead writer in the queue stops no other claim', async (bed) => {
      const [r, w, late] = [of(bed, 'read'), of(bed, 'write', bed.ttlMs), of(bed, 'read')];
      await bed.enterAll([r, w, late]);
      await bed.untilHeld(late);
      held(await bed.beat(r));
    }),
    ...STRANGERS.flatMap(([there, ...strangers]) =>
      strangers.map((stranger) =>
        check(`a ${stranger} claim is a mismatch for a queue of ${there} claims`, async (bed) => {
          await bed.enter(of(bed, there));
          gone(await bed.enter(of(bed, stranger)), 'mismatch');
          gone(await bed.enter({ ...of(bed, stranger), queue: false }), 'mismatch');
        }),
      ),
    ),
    check('a mismatch leaves the queue and its holder as they were', async (bed) => {
      const { claim: a, leftMs } = await hold(bed);
      const stranger = of(bed, 'permits');
      gone(await bed.enter(stranger), 'mismatch');
      gone(await bed.beat(stranger));
      assert.equal(await bed.leave(stranger), false);
      assert.deepEqual(await bed.counts(), [1, 0]);
      const after = held(await bed.enter(a)).leftMs;
      assert.ok(after <= leftMs + bed.slackMs, `${leftMs} ms, then ${after}`);
    }),
    check('an empty queue takes any kind again', async (bed) => {
      for (const kind of ['mutex', 'write', 'permits', 'read'] as const) {
        const each = of(bed, kind);
        held(await bed.enter(each));
        await bed.leave(each);
      }
    }),
    check('a dead claim of another kind is no mismatch', async (bed) => {
      const [dead] = await bed.entered({ ttlMs: bed.ttlMs });
      await bed.untilDead(dead);
      held(await bed.enter(of(bed, 'permits')));
    }),
  ],
};

function of(bed: TestBed, kind: Kind, ttlMs = LONG_MS): Claim {
  return bed.claim({ kind, ...SHAPE[kind], ttlMs });
}
