import assert from 'node:assert/strict';
import { type Claim, type ClaimStatus, MAX_PERMITS } from '../../contract/store.ts';
import { check, gone, held, type Topic, waiting } from '../case.ts';
import { LONG_MS, type TestBed } from '../test-bed.ts';
import { watchAll } from './hints.ts';

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

function write(bed: TestBed, ttlMs = LONG_MS): Claim {
  return bed.claim({ kind: 'write', permits: MAX_PERMITS, limit: MAX_PERMITS, ttlMs });
}

function read(bed: TestBed): Claim {
  return bed.claim({ kind: 'read', limit: MAX_PERMITS });
}

function down(bed: TestBed, claim: Claim): Promise<ClaimStatus> {
  assert.ok(bed.store.downgrade, 'the store has downgrade()');
  return bed.store.downgrade(claim);
}
