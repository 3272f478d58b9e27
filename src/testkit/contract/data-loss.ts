/** A store that has lost its data grants nothing until all its earlier grants have ended. */
import assert from 'node:assert/strict';
import { MAX_PERMITS, type Store } from '../../contract/store.ts';
import { type Case, check, gone, grown, held, hold, type Topic, waiting } from '../case.ts';
import type { TestBed } from '../test-bed.ts';

/** Long enough to differ from no quarantine, on a machine under load. */
const QUARANTINE_MS = 2_000;

/** Both stores claim once: a session's first claim takes long, and the quarantine is short. */
async function trustingBeside(bed: TestBed): Promise<Store> {
  const trusting = await bed.trusting();
  for (const store of [bed.store, trusting]) {
    const claims = [bed.claim(), bed.claim()];
    for (const claim of claims) await bed.enter(claim, store);
    for (const claim of claims) await store.release([claim]);
  }
  return trusting;
}

const CASES: readonly Case[] = [
  check('holders and waiters are told that the store was reset', async (bed) => {
    const [a, b] = await bed.entered({}, {});
    await bed.forget();
    gone(await bed.beat(a), 'store-reset');
    gone(await bed.beat(b), 'store-reset');
    assert.equal((await bed.look()).holders.length, 0);
  }),
  check('no claim is admitted, and waiters are told why and for how long', async (bed) => {
    await bed.forget();
    const status = waiting(await bed.enter(bed.claim()));
    assert.equal(status.why, 'data-loss');
    gone(await bed.enter(bed.claimOn('tried', { queue: false })));
    const { holders, quarantineMs = 0 } = await bed.look();
    assert.equal(holders.length, 0);
    // A try learns why it was refused from a look at what is not claimed.
    const { quarantineMs: idle = 0 } = await bed.look(bed.name('tried'));
    for (const ms of [status.retryInMs, quarantineMs, idle]) {
      assert.ok(ms > 0 && ms <= QUARANTINE_MS + bed.slackMs, `${ms} ms`);
    }
  }),
  check('after the quarantine, and no earlier, claims are admitted in order', async (bed) => {
    const from = bed.clock.now();
    await bed.forget();
    const [a, b] = await bed.entered({}, {});
    const { takeover } = await bed.untilHeld(a);
    bed.lasted(from, QUARANTINE_MS);
    assert.equal(takeover, undefined);
    assert.equal(waiting(await bed.enter(b)).why, 'queue');
  }),
  check('a claim from before that is repeated has to wait as well', async (bed) => {
    const { claim: a } = await hold(bed);
    await bed.forget();
    assert.equal(waiting(await bed.enter(a)).why, 'data-loss');
  }),
  check('a claim from before that is released does not come back', async (bed) => {
    const { claim: a } = await hold(bed);
    await bed.forget();
    assert.equal(await bed.leave({ ...a, unanswered: true }), false);
    gone(await bed.enter(a));
    assert.equal((await bed.look()).waiters.length, 0);
  }),
  check('tokens grow, or say that they come from another source', ['tokens'], async (bed) => {
    let before = 0n;
    for (let i = 0; i < 3; i++) {
      const claim = bed.claim();
      before = held(await bed.enter(claim)).token;
      await bed.leave(claim);
    }
    const { lineage } = bed.store;
    await bed.forget();
    const [claim] = await bed.entered({});
    const { token } = await bed.untilHeld(claim);
    assert.ok(token > before || bed.store.lineage !== lineage, `${token} after ${before}`);
  }),
  check('a claim that trusts is admitted at once, and no other with it', ['trust'], async (bed) => {
    const trusting = await trustingBeside(bed);
    await bed.forget();
    held(await bed.enter(bed.claim(), trusting));
    const both = [bed.claimOn('b'), bed.claimOn('c')];
    for (const status of await bed.enterBatch(both, trusting)) held(status);
    assert.equal(waiting(await bed.enter(bed.claim())).why, 'data-loss');
    const other = bed.claimOn('other');
    assert.equal(waiting(await bed.enter(other)).why, 'data-loss');
    gone(await bed.enter(bed.claimOn('tried', { queue: false })));
  }),
  check('a waiter is admitted no earlier for one that trusts', ['queue', 'trust'], async (bed) => {
    const trusting = await trustingBeside(bed);
    const from = bed.clock.now();
    await bed.forget();
    const [first, waiter] = [bed.claim(), bed.claim()];
    const { token } = held(await bed.enter(first, trusting));
    assert.equal(waiting(await bed.enter(waiter)).why, 'data-loss');
    await trusting.inspect(bed.name());
    assert.deepEqual(await trusting.release([first]), [true]);
    assert.equal(waiting(await bed.beat(waiter, trusting)).why, 'data-loss');
    assert.equal(waiting(await bed.enter(waiter)).why, 'data-loss');
    grown(token, (await bed.untilHeld(waiter)).token);
    bed.lasted(from, QUARANTINE_MS);
  }),
  check('claims that trust hand over to each other', ['queue', 'trust'], async (bed) => {
    const trusting = await trustingBeside(bed);
    await bed.forget();
    const all = [bed.claim(), bed.claim(), bed.claim()];
    for (const each of all) await bed.enter(each, trusting);
    for (const each of all) {
      held(await bed.beat(each, trusting));
      await trusting.release([each]);
    }
  }),
  check('a claim that trusts passes no waiter', ['queue', 'trust'], async (bed) => {
    const trusting = await trustingBeside(bed);
    await bed.forget();
    const [before, stays, behind] = [bed.claim(), bed.claim(), bed.claim()];
    assert.equal(waiting(await bed.enter(before)).why, 'data-loss');
    assert.equal(waiting(await bed.enter(behind, trusting)).why, 'queue');
    assert.equal(waiting(await bed.enter(stays)).why, 'data-loss');
    gone(await bed.enter(bed.claim({ queue: false }), trusting));
    await bed.leave(before);
    held(await bed.beat(behind, trusting));
    await trusting.release([behind]);
    assert.equal(waiting(await bed.beat(stays)).why, 'data-loss');
  }),
  check('readers and permits that trust pass none', ['queue', 'permits', 'trust'], async (bed) => {
    const trusting = await trustingBeside(bed);
    await bed.forget();
    for (const [kind, limit] of [['read', MAX_PERMITS] as const, ['permits', 5] as const]) {
      const of = () => bed.claimOn(kind, { kind, limit });
      const [first, waiter, behind] = [of(), of(), of()];
      held(await bed.enter(first, trusting));
      assert.equal(waiting(await bed.enter(waiter)).why, 'data-loss');
      assert.equal(waiting(await bed.enter(behind, trusting)).why, 'queue');
      await bed.leave(waiter);
      held(await bed.beat(behind, trusting));
      assert.equal((await bed.look(bed.name(kind))).holders.length, 2);
    }
  }),
];

export const dataLoss: Topic = {
  topic: 'data loss',
  needs: ['data loss'],
  cases: CASES.map((each) => ({ ...each, fixture: { quarantineMs: QUARANTINE_MS } })),
};
