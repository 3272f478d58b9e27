import assert from 'node:assert/strict';
import { type Claim, type ClaimStatus, type Kind, MAX_PERMITS } from '../../contract/store.ts';
import { check, gone, held, hold, states, type Topic, waiting } from '../case.ts';
import { LONG_MS, type TestBed } from '../test-bed.ts';
import { watchAll } from './hints.ts';

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

export const downgrade: Topic = {
  topic: 'downgrade',
  promise: 'Turns a held write claim into a read claim with the same token; idempotent.',
  needs: ['queue', 'permits', 'downgrade'],
  cases: [
    check('a downgraded writer keeps its token and lets the readers behind it in', async (bed) => {
      const [w, r, next, late] = [write(bed), read(bed), write(bed), read(bed)];
      const { token } = held(await bed.enter(w));
      await bed.enterAll([r, next, late]);
      assert.equal(held(await down(bed, w)).token, token);
      held(await bed.beat(r));
      waiting(await bed.beat(next));
      waiting(await bed.beat(late));
      await bed.leave(w);
      waiting(await bed.beat(next));
      await bed.leave(r);
      held(await bed.beat(next));
    }),
    check('a downgraded claim is downgraded again, renewed and released as before', async (bed) => {
      const w = write(bed);
      const { token } = held(await bed.enter(w));
      await down(bed, w);
      assert.equal(held(await down(bed, w)).token, token);
      const shown = (await bed.look()).holders.map(({ kind, permits }) => ({ kind, permits }));
      assert.deepEqual(shown, [{ kind: 'read', permits: 1 }]);
      const asRead = { ...w, kind: 'read', permits: 1 } as const;
      assert.equal(held(await bed.beat(asRead)).token, token);
      assert.equal(held(await bed.beat(w)).token, token);
      assert.equal((await bed.look()).holders[0]?.kind, 'read');
      assert.equal(await bed.leave(asRead), true);
      held(await bed.enter(write(bed)));
    }),
    check('a writer that waits stays a writer', async (bed) => {
      const [w, next, r] = [write(bed), write(bed), read(bed)];
      await bed.enterAll([w, next, r]);
      waiting(await down(bed, next));
      const kinds = (await bed.look()).waiters.map(({ kind }) => kind);
      assert.deepEqual(kinds, ['write', 'read']);
      await bed.leave(w);
      held(await bed.beat(next));
      waiting(await bed.beat(r));
    }),
    check('downgrading what is gone or expired returns gone, creating nothing', async (bed) => {
      gone(await down(bed, write(bed)));
      const released = write(bed);
      await bed.enter(released);
      await bed.leave(released);
      gone(await down(bed, released));
      const dead = write(bed, bed.ttlMs);
      await bed.enter(dead);
      await bed.untilDead(dead);
      gone(await down(bed, dead));
      assert.equal((await bed.look()).holders.length, 0);
      held(await bed.enter(write(bed)));
    }),
    check('downgrading tells those it lets in and the next, only', ['watch'], async (bed) => {
      const claims = [write(bed), read(bed), read(bed), write(bed), read(bed)];
      const watched = await watchAll(bed, claims);
      await down(bed, watched.claim(0));
      assert.deepEqual(await watched.settled(3), [1, 2, 3]);
    }),
  ],
};

const write = (bed: TestBed, ttlMs?: number): Claim => of(bed, 'write', ttlMs);
const read = (bed: TestBed): Claim => of(bed, 'read');

function down(bed: TestBed, claim: Claim): Promise<ClaimStatus> {
  assert.ok(bed.store.downgrade, 'the store has downgrade()');
  return bed.store.downgrade(claim);
}
