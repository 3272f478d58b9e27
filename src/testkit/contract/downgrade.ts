import assert from 'node:assert/strict';
import { type Claim, type ClaimStatus, MAX_PERMITS } from '../../contract/store.ts';
import type { Topic } from '../case.ts';
import { gone, held, waiting } from '../expect.ts';
import type { TestBed } from '../test-bed.ts';

export const downgrade: Topic = {
  topic: 'downgrade',
  promise: 'Turns a held write claim into a read claim with the same token; idempotent.',
  needs: ['queue', 'permits', 'downgrade'],
  cases: [
    {
      name: 'a downgraded writer keeps its token and lets the readers behind it in',
      async run(bed) {
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
      },
    },
    {
      name: 'downgrading may be repeated',
      async run(bed) {
        const w = write(bed);
        const { token } = held(await bed.enter(w));
        await down(bed, w);
        assert.equal(held(await down(bed, w)).token, token);
        const { holders } = await bed.look();
        assert.deepEqual(
          holders.map(({ kind, permits }) => ({ kind, permits })),
          [{ kind: 'read', permits: 1 }],
        );
      },
    },
    {
      name: 'a downgraded claim is renewed, repeated and released as before',
      async run(bed) {
        const w = write(bed);
        const { token } = held(await bed.enter(w));
        await down(bed, w);
        const asRead = { ...w, kind: 'read', permits: 1 } as const;
        assert.equal(held(await bed.beat(asRead)).token, token);
        assert.equal(held(await bed.beat(w)).token, token);
        assert.equal((await bed.look()).holders[0]?.kind, 'read');
        assert.equal(await bed.leave(asRead), true);
        held(await bed.enter(write(bed)));
      },
    },
    {
      name: 'a writer that waits stays a writer',
      async run(bed) {
        const [w, next, r] = [write(bed), write(bed), read(bed)];
        await bed.enterAll([w, next, r]);
        waiting(await down(bed, next));
        assert.deepEqual(
          (await bed.look()).waiters.map(({ kind }) => kind),
          ['write', 'read'],
        );
        await bed.leave(w);
        held(await bed.beat(next));
        waiting(await bed.beat(r));
      },
    },
    {
      name: 'downgrading a claim that is gone returns gone and creates nothing',
      async run(bed) {
        gone(await down(bed, write(bed)));
        const released = write(bed);
        await bed.enter(released);
        await bed.leave(released);
        gone(await down(bed, released));
        assert.equal((await bed.look()).holders.length, 0);
      },
    },
    {
      name: 'downgrading an expired writer does not revive it',
      async run(bed) {
        const dead = write(bed, bed.ttlMs);
        await bed.enter(dead);
        await bed.untilDead(dead);
        gone(await down(bed, dead));
        held(await bed.enter(write(bed)));
      },
    },
    {
      name: 'downgrading tells exactly the readers that it lets in and the writer behind them',
      needs: ['watch'],
      async run(bed) {
        const names = ['holder', 'reader 1', 'reader 2', 'writer', 'late'] as const;
        const claims = [write(bed), read(bed), read(bed), write(bed), read(bed)];
        const woken = new Set<string>();
        for (const [i, each] of claims.entries()) {
          await bed.watch(each, () => woken.add(names[i] ?? ''));
          await bed.enter(each);
        }
        await bed.quiet();
        woken.clear();
        await down(bed, claims[0] ?? assert.fail());
        await bed.until('three were told', () => woken.size >= 3);
        await bed.quiet();
        assert.deepEqual([...woken].sort(), ['reader 1', 'reader 2', 'writer']);
      },
    },
  ],
};

function write(bed: TestBed, ttlMs?: number): Claim {
  const claim = bed.claim({ kind: 'write', permits: MAX_PERMITS, limit: MAX_PERMITS });
  return ttlMs === undefined ? claim : { ...claim, ttlMs };
}

function read(bed: TestBed): Claim {
  return bed.claim({ kind: 'read', limit: MAX_PERMITS });
}

function down(bed: TestBed, claim: Claim): Promise<ClaimStatus> {
  assert.ok(bed.store.downgrade, 'the store has downgrade()');
  return bed.store.downgrade(claim);
}
