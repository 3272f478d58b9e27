import assert from 'node:assert/strict';
import type { Claim, GoneStatus, Store } from '../../contract/store.ts';
import { check, gone, held, hold, states, type Topic } from '../case.ts';
import type { TestBed } from '../test-bed.ts';

export const claimAll: Topic = {
  topic: 'all or none',
  promise: 'Enters all of these tries in one step if each would be admitted at once',
  needs: ['claimAll'],
  cases: [
    check('all are held if all are free, also if asked again, and each by itself', async (bed) => {
      const claims = tries(bed, 'b', 'a', 'c');
      const first = await enterAll(bed, claims);
      const most = await bed.age(held(first[0]).leftMs);
      for (const [i, status] of (await enterAll(bed, claims)).entries()) {
        const { token, leftMs } = held(status);
        assert.equal(token, held(first[i]).token);
        assert.ok(leftMs <= most, `${leftMs} ms are left`);
      }
      assert.equal(await bed.leave(claims[0] as Claim), true);
      assert.deepEqual(await holders(bed, 'b', 'a', 'c'), [0, 1, 1]);
      assert.equal(states(await bed.beatBatch(claims)), 'gone held held');
    }),
    check('if one is not free, none is held, and nothing stays of them', async (bed) => {
      const { claim: a } = await hold(bed, { resource: of(bed, 'a') });
      const claims = tries(bed, 'c', 'a', 'b');
      const [, refused] = await allGone(bed, claims);
      gone(refused, 'refused');
      assert.deepEqual(await holders(bed, 'c', 'a', 'b'), [0, 1, 0]);
      assert.equal((await bed.look(a.resource)).waiters.length, 0);
      for (const claim of claims) gone(await bed.beat(claim));
      await bed.leave(a);
      for (const status of await enterAll(bed, tries(bed, 'a', 'b', 'c'))) held(status);
    }),
    check('of those that overlap one is held, and none in part', async (bed) => {
      const stores = [bed.store, await bed.connect()];
      for (let round = 0; round < 5; round++) {
        const pairs = ['ab', 'ba', 'bc', 'cb', 'ca', 'ac', 'ab', 'ba'].map((pair) =>
          tries(bed, ...Array.from(pair, (name) => `${round} ${name}`)),
        );
        const answers = await Promise.all(
          pairs.map((claims, i) => enterAll(bed, claims, stores[i % 2])),
        );
        const some = answers.map(states).filter((each) => each.includes('held'));
        assert.deepEqual(some, ['held held']);
        const counts = await holders(bed, `${round} a`, `${round} b`, `${round} c`);
        assert.deepEqual(counts.sort(), [0, 1, 1]);
      }
    }),
    check('a copy that comes after the release of one of them enters none', async (bed) => {
      const claims = tries(bed, 'a', 'b');
      await bed.leave({ ...(claims[1] as Claim), unanswered: true });
      await allGone(bed, claims);
      assert.deepEqual(await holders(bed, 'a', 'b'), [0, 0]);
    }),
    check('kinds mix, beside other holders, and a misfit says so', ['permits'], async (bed) => {
      const permits = { resource: of(bed, 'p'), kind: 'permits', limit: 3 } as const;
      held(await bed.enter(bed.claim(permits)));
      const both = () => [bed.claim({ ...permits, permits: 2, queue: false }), ...tries(bed, 'm')];
      for (const status of await enterAll(bed, both())) held(status);
      await allGone(bed, both());
      const [, misfit] = await allGone(bed, tries(bed, 'a', 'p'));
      gone(misfit, 'mismatch');
      assert.deepEqual(await holders(bed, 'p', 'm', 'a'), [2, 1, 0]);
    }),
    check('a refused try forgets no dead holder', ['traces of the dead', 'tokens'], async (bed) => {
      const { claim: a, token } = await hold(bed, { resource: of(bed, 'a'), ttlMs: bed.ttlMs });
      await bed.untilDead(a);
      const { claim: b } = await hold(bed, { resource: of(bed, 'b') });
      await allGone(bed, tries(bed, 'a', 'b'));
      await bed.leave(b);
      const [first] = await enterAll(bed, tries(bed, 'a', 'b'));
      assert.deepEqual(held(first).takeover, { reason: 'expired', token });
    }),
    {
      name: 'none is held while the store may have lost others',
      needs: ['data loss'],
      fixture: { quarantineMs: 2_000 },
      async run(bed) {
        await bed.forget();
        await allGone(bed, tries(bed, 'a', 'b'));
      },
    },
  ],
};

/** In a cluster, braces put all names of a case into one slot. */
function of(bed: TestBed, name: string): string {
  return bed.name(`{all}${name}`);
}

function tries(bed: TestBed, ...names: readonly string[]): Claim[] {
  return names.map((name) => bed.claim({ resource: of(bed, name), queue: false }));
}

async function enterAll({ store: own }: TestBed, claims: readonly Claim[], store: Store = own) {
  assert.ok(store.claimAll, 'the store has claimAll()');
  const statuses = await store.claimAll(claims);
  assert.equal(statuses.length, claims.length, 'one claim gets one answer');
  return statuses;
}

async function allGone(bed: TestBed, claims: readonly Claim[]): Promise<GoneStatus[]> {
  return (await enterAll(bed, claims)).map((status) => gone(status));
}

function holders(bed: TestBed, ...names: readonly string[]): Promise<number[]> {
  return Promise.all(names.map(async (name) => (await bed.look(of(bed, name))).holders.length));
}
