import assert from 'node:assert/strict';
import { check, grown, held, hold, type Topic } from '../case.ts';

export const inspect: Topic = {
  topic: 'inspect and list',
  promise: 'Live claims only, in order.',
  cases: [
    check('a resource without claims has an empty queue', async (bed) => {
      const other = bed.claimOn('other');
      await bed.enter(other);
      // In one turn, of which a store may make one request.
      const [queue, used] = await Promise.all([bed.look(), bed.look(other.resource)]);
      assert.deepEqual([used.resource, used.holders.length], [other.resource, 1]);
      assert.equal(queue.resource, bed.name());
      assert.equal(queue.limit, undefined);
      assert.deepEqual([queue.holders.length, queue.waiters.length], [0, 0]);
    }),
    check('looking at a resource creates nothing', ['list'], async (bed) => {
      await bed.look();
      assert.deepEqual(await bed.list(), []);
    }),
    check('a holder is shown as it described itself', ['permits'], async (bed) => {
      const holder = {
        host: 'h\u00f6st "1"',
        pid: 42,
        label: 'nightly\n\u{1f319}',
        since: 123_456,
      };
      const a = bed.claim({ kind: 'permits', permits: 2, limit: 5, holder });
      const { token } = held(await bed.enter(a));
      const { holders, limit } = await bed.look();
      const [member] = holders;
      assert.ok(member, 'the holder must be shown');
      assert.deepEqual({ ...member.holder }, holder);
      assert.deepEqual([member.kind, member.permits, limit], ['permits', 2, 5]);
      assert.equal(member.number, token);
      assert.equal(member.ttlMs, a.ttlMs);
      const { leftMs } = member;
      assert.ok(leftMs > 0 && leftMs <= a.ttlMs + bed.slackMs, `${leftMs} of ${a.ttlMs} ms`);
    }),
    check('a holder without a label is shown without one', async (bed) => {
      await bed.enter(bed.claim({ holder: { host: 'host', pid: 1, since: 1 } }));
      const [member] = (await bed.look()).holders;
      assert.equal(member?.holder.label, undefined);
    }),
    check('holders and waiters are shown in growing order', ['queue', 'permits'], async (bed) => {
      // More than ten, to catch numbers compared as text.
      const claims = Array.from({ length: 12 }, () => bed.claim({ kind: 'permits', limit: 2 }));
      const granted = (await bed.enterAll(claims)).slice(0, 2).map((each) => held(each).token);
      const { holders, waiters } = await bed.look();
      assert.deepEqual([holders.length, waiters.length], [2, 10]);
      const numbers = holders.map((member) => member.number);
      assert.deepEqual(numbers, granted);
      const shown = [...holders, ...waiters];
      const labels = claims.map(({ holder }) => holder.label);
      const seen = shown.map(({ holder }) => holder.label);
      assert.deepEqual(seen, labels);
      shown.reduce((last, { number }) => grown(last, number), 0n);
    }),
    check('a heartbeat is seen by others', async (bed) => {
      const [a] = await bed.entered({});
      const look = async (): Promise<number> => (await bed.look()).holders[0]?.leftMs ?? 0;
      let [before, after] = [0, 0];
      // Longer after each try, as looks may be late.
      for (let tries = 1; after <= before && tries < 5; tries++) {
        await bed.sleep(tries * bed.pauseMs);
        before = await look();
        await bed.beat(a);
        after = await look();
      }
      assert.ok(after > before, `${before}, then ${after}`);
    }),
    check('a look extends nothing', async (bed) => {
      const { leftMs } = await hold(bed);
      const most = await bed.age(leftMs);
      await bed.look();
      const [holder] = (await bed.look()).holders;
      assert.ok(holder && holder.leftMs <= most, `${holder?.leftMs}`);
    }),
    check('another connection sees the same queue', ['queue'], async (bed) => {
      const other = await bed.connect();
      await bed.enterAll([bed.claim(), bed.claim()]);
      const [mine, theirs] = [await bed.look(), await other.inspect(bed.name())];
      const numbers = [...mine.holders, ...mine.waiters].map((member) => member.number);
      const seen = [...theirs.holders, ...theirs.waiters].map((member) => member.number);
      assert.deepEqual(seen, numbers);
    }),
    check('a list names what is claimed, once each, and nothing else', ['list'], async (bed) => {
      const released = bed.claimOn('released');
      await bed.enterAll(['a', 'a', 'b'].map((name) => bed.claimOn(name)));
      await bed.enter(released);
      await bed.leave(released);
      assert.deepEqual(await bed.list(), [bed.name('a'), bed.name('b')]);
    }),
    check('a list does not name the dead', ['list'], async (bed) => {
      await bed.enterAll(['a', 'b'].map((name) => bed.claimOn(name, { ttlMs: bed.ttlMs })));
      await bed.until('the list was empty', async () => (await bed.list()).length === 0);
    }),
  ],
};
