import assert from 'node:assert/strict';
import { MAX_BATCH, MAX_PERMITS } from '../../contract/store.ts';
import { check, gone, grown, held, states, type Topic } from '../case.ts';
import { LONG_MS } from '../test-bed.ts';

export const batches: Topic = {
  topic: 'batches',
  promise: 'Each claim is one atomic step and does not affect the others.',
  cases: [
    check('answers come in the order of the claims', async (bed) => {
      await bed.enterAll([bed.claimOn('b'), bed.claimOn('d')]);
      const batch = ['d', 'a', 'b', 'c'].map((name) => bed.claimOn(name, { queue: false }));
      assert.equal(states(await bed.enterBatch(batch)), 'gone held gone held');
      assert.equal(states(await bed.beatBatch(batch)), 'gone held gone held');
      assert.deepEqual(await bed.leaveBatch(batch), [false, true, false, true]);
    }),
    check('a hundred claims go in one request', async (bed) => {
      const batch = Array.from({ length: MAX_BATCH }, (_, i) => bed.claimOn(String(i)));
      for (const status of await bed.enterBatch(batch)) held(status);
      for (const status of await bed.beatBatch(batch)) held(status);
      for (const status of await bed.enterBatch(batch)) held(status);
      assert.deepEqual(new Set(await bed.leaveBatch(batch)), new Set([true]));
      for (const status of await bed.beatBatch(batch)) gone(status);
    }),
    check('each claim of a batch is what it asked to be', ['queue', 'permits'], async (bed) => {
      await bed.enterAll([bed.claimOn('d'), bed.claimOn('e')]);
      const batch = [
        bed.claimOn('a', { kind: 'permits', permits: 2, limit: 3, ttlMs: LONG_MS / 2 }),
        bed.claimOn('b', { kind: 'read', limit: MAX_PERMITS }),
        bed.claimOn('c', { ttlMs: LONG_MS / 4 }),
        bed.claimOn('d', { queue: false }),
        bed.claimOn('e', { ttlMs: LONG_MS / 2 }),
      ];
      assert.equal(states(await bed.enterBatch(batch)), 'held held held gone waiting');
      for (const { resource, kind, permits, limit, ttlMs, holder, queue } of batch) {
        if (!queue) continue;
        const shown = await bed.look(resource);
        const member = [...shown.holders, ...shown.waiters].at(-1);
        assert.deepEqual(
          [member?.kind, member?.permits, member?.ttlMs, member?.holder.label, shown.limit],
          [kind, permits, ttlMs, holder.label, limit],
        );
        assert.ok(member && member.leftMs <= ttlMs + bed.slackMs, `${member?.leftMs} of ${ttlMs}`);
      }
    }),
    check('each heartbeat of a batch gives its claim its own TTL', async (bed) => {
      const batch = [LONG_MS, LONG_MS / 4, LONG_MS / 2].map((ttlMs, i) =>
        bed.claimOn(String(i), { ttlMs }),
      );
      await bed.enterBatch(batch);
      const statuses = await bed.beatBatch(batch);
      for (const [i, { ttlMs, resource }] of batch.entries()) {
        const { leftMs } = held(statuses[i]);
        const [holder] = (await bed.look(resource)).holders;
        for (const left of [leftMs, holder?.leftMs ?? 0]) {
          assert.ok(left <= ttlMs + bed.slackMs && left > ttlMs - LONG_MS / 8, `${left} ms`);
        }
      }
    }),
    check('a refused claim does not hurt the others of its batch', ['permits'], async (bed) => {
      await bed.enter(bed.claimOn('b'));
      const stranger = bed.claimOn('b', { kind: 'permits', limit: 5 });
      const batch = [bed.claimOn('a'), stranger, bed.claimOn('c')];
      const [first, second, third] = await bed.enterBatch(batch);
      held(first);
      gone(second, 'mismatch');
      held(third);
    }),
    check('an empty batch gets an empty answer', async (bed) => {
      assert.deepEqual(await bed.store.claim([]), []);
      assert.deepEqual(await bed.store.renew([]), []);
      assert.deepEqual(await bed.store.release([]), []);
    }),
    check('claims on one resource go in order', ['queue', 'sequential batches'], async (bed) => {
      const batch = [bed.claim(), bed.claim(), bed.claim()];
      assert.equal(states(await bed.enterBatch(batch)), 'held waiting waiting');
      assert.deepEqual(await bed.leaveBatch(batch.slice(0, 2)), [true, true]);
      assert.equal(states(await bed.beatBatch(batch)), 'gone gone held');
    }),
    check('tokens grow in a batch', ['tokens', 'sequential batches', 'permits'], async (bed) => {
      const batch = [1, 2, 3].map(() => bed.claim({ kind: 'permits', limit: 3 }));
      const tokens = (await bed.enterBatch(batch)).map((status) => held(status).token);
      [0n, ...tokens].reduce(grown);
    }),
    check('batches of connections do not mix up their answers', ['permits'], async (bed) => {
      const stores = [bed.store, await bed.connect(), await bed.connect()];
      await Promise.all(
        stores.map(async (store, s) => {
          const batch = Array.from({ length: 20 }, (_, i) =>
            bed.claimOn(`${i}`, { kind: 'permits', limit: 3 }),
          );
          for (const status of await bed.enterBatch(batch, store)) held(status);
          assert.equal((await bed.leaveBatch(batch.slice(0, s), { store })).length, s);
        }),
      );
      assert.equal((await bed.look(bed.name('19'))).holders.length, 3);
    }),
  ],
};
