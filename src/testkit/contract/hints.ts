import assert from 'node:assert/strict';
import { type Claim, type ClaimStatus, MAX_PERMITS } from '../../contract/store.ts';
import { check, held, show, type Topic, waiting } from '../case.ts';
import type { TestBed } from '../test-bed.ts';
import { PAIRS } from './names.ts';

export const hints: Topic = {
  topic: 'hints',
  promise: 'Calls `wake` when the claim is admitted, becomes the first waiter',
  needs: ['queue', 'watch'],
  cases: [
    check('a hint that grants has token and life', ['granting hints', 'tokens'], async (bed) => {
      const watched = await watchAll(bed, [bed.claim(), bed.claim()]);
      await bed.leave(watched.claim(0));
      const hint = held(await bed.until('the grant came', () => watched.hint(1)));
      const status = held(await bed.enter(watched.claim(1)));
      assert.equal(hint.token, status.token);
      const { ttlMs } = watched.claim(1);
      assert.ok(hint.leftMs <= ttlMs + bed.slackMs, `${hint.leftMs} of ${ttlMs} ms`);
      const least = status.leftMs - bed.slackMs;
      assert.ok(hint.leftMs >= least, `the hint has ${hint.leftMs} ms, less than ${least}`);
      assert.deepEqual(hint.takeover, status.takeover);
    }),
    check('of twelve, a release tells the admitted and the new first, only', async (bed) => {
      const claims = Array.from({ length: 13 }, () => bed.claim());
      const watched = await watchAll(bed, claims);
      await bed.leave(watched.claim(0));
      assert.deepEqual(await watched.settled(2), [1, 2]);
      await bed.leave(watched.claim(1));
      assert.deepEqual(await watched.settled(2), [2, 3]);
    }),
    check('a departing writer tells those it lets in and the next', ['permits'], async (bed) => {
      const read = () => bed.claim({ kind: 'read', limit: MAX_PERMITS });
      const write = () => bed.claim({ kind: 'write', permits: MAX_PERMITS, limit: MAX_PERMITS });
      const watched = await watchAll(bed, [write(), read(), read(), read(), write(), read()]);
      await bed.leave(watched.claim(0));
      assert.deepEqual(await watched.settled(4), [1, 2, 3, 4]);
    }),
    check('a holder is told of its first waiter, and of no other', async (bed) => {
      const watched = await watchAll(bed, [bed.claim()]);
      await bed.enter(bed.claim());
      assert.deepEqual(await watched.settled(1), [0]);
      await bed.enter(bed.claim());
      assert.deepEqual(await watched.settled(0), []);
    }),
    check('a holder that was admitted with waiters behind it knows that they wait', async (bed) => {
      const watched = await watchAll(bed, [bed.claim(), bed.claim(), bed.claim()]);
      await bed.leave(watched.claim(0));
      await bed.until('the waiter was told', () => watched.woken().includes(1));
      const hint = watched.hint(1);
      const status = hint?.state === 'held' ? hint : held(await bed.beat(watched.claim(1)));
      assert.ok(status.waiters >= 1, 'the holder must be told that a claim waits');
    }),
    check('the new first waiter is told when the one before it leaves', async (bed) => {
      const watched = await watchAll(bed, [bed.claim(), bed.claim(), bed.claim(), bed.claim()]);
      await bed.leave(watched.claim(1));
      assert.deepEqual(await watched.settled(1), [2]);
    }),
    check('heartbeats, looks and a departure from the middle send no hint', async (bed) => {
      const watched = await watchAll(bed, [bed.claim(), bed.claim(), bed.claim(), bed.claim()]);
      for (const i of [0, 1, 2, 3]) await bed.beat(watched.claim(i));
      await bed.look();
      await bed.leave(watched.claim(2));
      assert.deepEqual(await watched.settled(0), []);
    }),
    check('a waiter that finds a dead holder tells the new first waiter', async (bed) => {
      const dead = bed.claim({ ttlMs: 2 * bed.ttlMs });
      const watched = await watchAll(bed, [dead, bed.claim(), bed.claim(), bed.claim()]);
      await bed.untilHeld(watched.claim(1));
      await bed.until('the next waiter was told', () => watched.woken().includes(2));
      await bed.quiet();
      assert.ok(!watched.woken().includes(3), 'the last waiter is not concerned');
    }),
    check('the new first waiter learns when to ask for the sake of a dead holder', async (bed) => {
      const [a, dying] = [bed.claim(), bed.claim({ ttlMs: 10 * bed.ttlMs })];
      const watched = await watchAll(bed, [a, dying, bed.claim()]);
      await bed.leave(a);
      await bed.until('the new first waiter was told', () => watched.woken().includes(2));
      const hint = watched.hint(2);
      const { retryInMs } = waiting(hint ?? (await bed.beat(watched.claim(2))));
      assert.ok(retryInMs <= dying.ttlMs + bed.slackMs, `${retryInMs} of ${dying.ttlMs} ms`);
    }),
    check('hints reach other connections', async (bed) => {
      const other = await bed.connect();
      const [a, b] = [bed.claim(), bed.claim()];
      let wakes = 0;
      await bed.enter(a);
      await bed.watch(b, () => wakes++, other);
      await bed.enter(b, other);
      await bed.quiet();
      wakes = 0;
      await bed.leave(a);
      await bed.until('the waiter was told', () => wakes > 0);
      held(await bed.beat(b, other));
    }),
    check('hints reach their claim under any name, and no other claim', async (bed) => {
      const woken: string[] = [];
      const expected: string[] = [];
      for (const [i, [, one, other]] of PAIRS.entries()) {
        // Names of different pairs may be the same.
        const [left, kept] = [bed.name(`${i}/${one}`), bed.name(`${i}/${other}`)];
        for (const resource of [left, kept]) {
          const [holder, waiter] = [bed.claim({ resource }), bed.claim({ resource })];
          await bed.enter(holder);
          await bed.watch(waiter, (hint) => hint?.state !== 'waiting' && woken.push(resource));
          await bed.enter(waiter);
          if (resource === left) await bed.leave(holder);
        }
        expected.push(left);
      }
      await bed.until('all were told', () => new Set(woken).size >= expected.length);
      await bed.quiet();
      assert.deepEqual([...new Set(woken)].sort(), expected.sort());
    }),
    check('hints do not give ids away', async (bed) => {
      const [a, b] = [bed.claim(), bed.claim()];
      const hints: unknown[] = [];
      for (const each of [a, b]) {
        await bed.watch(each, (...said) => hints.push(said));
        await bed.enter(each);
      }
      // A holder that leaves before its hint came may get none.
      await bed.until('the holder was told', () => hints.length >= 1);
      await bed.leave(a);
      await bed.until('both were told', () => hints.length >= 2);
      for (const { id } of [a, b]) assert.ok(!show(hints).includes(id), show(hints));
    }),
    check('a subscription that ends leaves the others as they are', async (bed) => {
      const other = await bed.connect();
      const [a, b, c] = [bed.claim(), bed.claim(), bed.claimOn('other')];
      let wakes = 0;
      await bed.enter(a);
      await bed.watch(b, () => wakes++, other);
      const ends = [await bed.watch(a, () => {}, other), await bed.watch(c, () => {}, other)];
      await bed.enter(b, other);
      for (const subscription of ends) await subscription[Symbol.asyncDispose]();
      await bed.quiet();
      wakes = 0;
      await bed.leave(a);
      await bed.until('the waiter was told', () => wakes > 0);
    }),
    check('a subscription that ended tells nothing more', async (bed) => {
      const [a, b] = [bed.claim(), bed.claim()];
      let wakes = 0;
      const subscription = await bed.watch(b, () => wakes++);
      await bed.enterAll([a, b]);
      await subscription[Symbol.asyncDispose]();
      await bed.quiet();
      wakes = 0;
      await bed.leave(a);
      await bed.quiet();
      assert.equal(wakes, 0);
      held(await bed.beat(b));
    }),
  ],
};

interface WatchedClaims {
  claim(i: number): Claim;
  /** Claims that got a hint since the last `settled`, in ascending order. */
  woken(): number[];
  /** The last hint with a status. */
  hint(i: number): ClaimStatus | undefined;
  /** Waits for hints to this many claims and for stragglers; returns `woken()` and clears it. */
  settled(count: number): Promise<number[]>;
}

/** Subscribes to the claims and enters them in order, then waits for quiet. */
export async function watchAll(bed: TestBed, claims: readonly Claim[]): Promise<WatchedClaims> {
  const latest = new Map<number, ClaimStatus | undefined>();
  for (const [i, each] of claims.entries()) {
    await bed.watch(each, (hint) => latest.set(i, hint ?? latest.get(i)));
    await bed.enter(each);
  }
  await bed.quiet();
  latest.clear();
  const who = (): number[] => [...latest.keys()].sort((a, b) => a - b);
  return {
    claim: (i) => claims[i] ?? assert.fail(`there is no claim ${i}`),
    woken: who,
    hint: (i) => latest.get(i),
    async settled(count) {
      await bed.until(`${count} were told`, () => latest.size >= count);
      await bed.quiet();
      const answer = who();
      latest.clear();
      return answer;
    },
  };
}
