import assert from 'node:assert/strict';
import { MAX_DURATION_MS } from '../../base/duration.ts';
import { check, gone, held, hold, show, states, type Topic, waiting } from '../case.ts';

export const claim: Topic = {
  topic: 'claim',
  promise: 'Enters the queue, or returns the status of an id already in it.',
  cases: [
    check('the first claim is held at once and lives for its TTL at most', async (bed) => {
      const { claim: a, leftMs, waiters } = await hold(bed);
      assert.ok(leftMs <= a.ttlMs + bed.slackMs, `${leftMs} ms of ${a.ttlMs}`);
      assert.equal(waiters, 0);
    }),
    check('the second claim waits', ['queue'], async (bed) => {
      await bed.enter(bed.claim());
      const status = waiting(await bed.enter(bed.claim()));
      assert.equal(status.why, 'queue');
      const { ahead = 1 } = status;
      assert.ok(ahead >= 1, `one claim is ahead, not ${ahead}`);
    }),
    check('connections share a queue', ['queue'], async (bed) => {
      const other = await bed.connect();
      const a = bed.claim();
      const b = bed.claim();
      held(await bed.enter(a));
      waiting(await bed.enter(b, other));
      held(await bed.beat(a, other));
      await bed.leave(a);
      held(await bed.beat(b, other));
    }),
    check('repeating a held claim never extends it', async (bed) => {
      const a = bed.claim();
      const first = held(await bed.enter(a));
      const most = await bed.age(first.leftMs);
      const { leftMs } = held(await bed.enter(a));
      assert.ok(leftMs <= most, `${first.leftMs}, then ${leftMs}`);
    }),
    check('repeating a waiting claim keeps its place and its end', ['queue'], async (bed) => {
      const [a, b, c] = await bed.entered({}, {}, {});
      const first = waiting(await bed.enter(b));
      const most = await bed.age(first.leftMs);
      const { leftMs } = waiting(await bed.enter(b));
      assert.ok(leftMs <= most, `${first.leftMs}, then ${leftMs}`);
      assert.equal((await bed.look()).waiters.length, 2);
      await bed.leave(a);
      held(await bed.beat(b));
      waiting(await bed.beat(c));
    }),
    check('a claim that is sent twice at once enters once', ['atomic try'], async (bed) => {
      const other = await bed.connect();
      for (const queue of [false, true]) {
        const a = bed.claimOn(`queue ${queue}`, { queue });
        const answers = [bed.enter(a), bed.enter(a, other), bed.enter(a), bed.enter(a, other)];
        const tokens = (await Promise.all(answers)).map((status) => held(status).token);
        assert.equal(new Set(tokens).size, 1, `one claim, one token: ${tokens}`);
        assert.deepEqual(await bed.counts(a.resource), [1, 0]);
      }
    }),
    check('a holder is told whether claims wait behind it', ['queue'], async (bed) => {
      const [a, b] = [bed.claim(), bed.claim()];
      assert.equal(held(await bed.enter(a)).waiters, 0);
      await bed.enter(b);
      for (const status of [await bed.beat(a), await bed.enter(a)]) {
        assert.ok(held(status).waiters >= 1, 'the holder must be told that a claim waits');
      }
      await bed.leave(b);
      assert.equal(held(await bed.beat(a)).waiters, 0);
    }),
    check('the first waiter is to ask when the holder may be dead', ['queue'], async (bed) => {
      const ttlMs = 10 * bed.ttlMs;
      await hold(bed, { ttlMs });
      const { retryInMs } = waiting(await bed.enter(bed.claim()));
      assert.ok(retryInMs > 0, 'asking at once would be polling');
      // Some stores tell the whole ttl, from whenever the holder was last heard.
      assert.ok(retryInMs <= ttlMs + bed.slackMs, `${retryInMs} of ${ttlMs} ms`);
    }),
    check('another waiter is to ask when the one before may be dead', ['queue'], async (bed) => {
      const dying = bed.claim({ ttlMs: 5 * bed.ttlMs });
      await bed.enterAll([bed.claim(), dying]);
      const { retryInMs } = waiting(await bed.enter(bed.claim()));
      assert.ok(retryInMs > 0, 'asking at once would be polling');
      assert.ok(retryInMs <= dying.ttlMs + bed.slackMs, `${retryInMs} of ${dying.ttlMs} ms`);
    }),
    check('a claim lives as long as it asked to, even for weeks', async (bed) => {
      const [a] = await bed.entered({ ttlMs: MAX_DURATION_MS });
      // A minute is far longer than any reply takes; too small a type would cut off far more.
      const least = a.ttlMs - 60_000;
      for (const status of [await bed.enter(a), await bed.beat(a)]) {
        const { leftMs } = held(status);
        assert.ok(leftMs > least && leftMs <= a.ttlMs + bed.slackMs, `${leftMs} ms left`);
      }
      const [holder] = (await bed.look()).holders;
      assert.ok(holder && holder.leftMs > least, `${holder?.leftMs} ms left`);
    }),
    check('a claim is shown as asked, even for weeks', ['holders as they are'], async (bed) => {
      const [a] = await bed.entered({ ttlMs: MAX_DURATION_MS });
      const [holder] = (await bed.look()).holders;
      assert.ok(holder && holder.ttlMs >= a.ttlMs, `a TTL of ${holder?.ttlMs} ms`);
    }),
    check('the id of a claim stays secret', ['queue'], async (bed) => {
      const [a, b] = [bed.claim(), bed.claim()];
      const answers = [await bed.enterAll([a, b]), await bed.beat(b), await bed.look()];
      for (const { id } of [a, b]) assert.ok(!show(answers).includes(id), show(answers));
    }),
    {
      name: 'a bounded queue refuses one claim more, only while it is full, and none that is in it',
      needs: ['queue'],
      fixture: { maxWaiters: 3 },
      async run(bed) {
        const [a, b, c, d, e] = [bed.claim(), bed.claim(), bed.claim(), bed.claim(), bed.claim()];
        await bed.enterAll([a, b, c, d]);
        assert.equal(states(await bed.enterAll([a, b, c, d])), 'held waiting waiting waiting');
        gone(await bed.enter(e), 'full');
        assert.equal((await bed.look()).waiters.length, 3);
        waiting(await bed.beat(b));
        await bed.leave(c);
        waiting(await bed.enter(bed.claim()));
      },
    },
  ],
};

export const tries: Topic = {
  topic: 'try',
  promise: 'False: enter only if admitted at once.',
  cases: [
    check('a refused try leaves nothing and may be repeated', ['atomic try'], async (bed) => {
      const [a] = await bed.entered({});
      const [once, again] = [bed.claim({ queue: false }), bed.claim({ queue: false })];
      for (const each of [once, again, again]) gone(await bed.enter(each), 'refused');
      assert.deepEqual(await bed.counts(), [1, 0]);
      gone(await bed.beat(once));
      await bed.leave(a);
      assert.equal((await bed.look()).holders.length, 0);
      held(await bed.enter(again));
    }),
    check('of tries that arrive together one is held', ['atomic try'], async (bed) => {
      const stores = [bed.store, await bed.connect()];
      for (let round = 0; round < 5; round++) {
        const resource = bed.name(String(round));
        const tries = Array.from({ length: 8 }, () => bed.claim({ resource, queue: false }));
        const answers = await Promise.all(tries.map((each, i) => bed.enter(each, stores[i % 2])));
        const { length } = answers.filter(({ state }) => state === 'held');
        assert.equal(length, 1, states(answers));
        assert.equal((await bed.look(resource)).holders.length, 1);
      }
    }),
    check('a try that would fit overtakes no waiter', ['queue', 'permits'], async (bed) => {
      const permits = { kind: 'permits', limit: 3 } as const;
      held(await bed.enter(bed.claim({ ...permits, permits: 2 })));
      waiting(await bed.enter(bed.claim({ ...permits, permits: 2 })));
      gone(await bed.enter(bed.claim({ ...permits, queue: false })), 'refused');
    }),
    check('a refused try does not change the order of the waiters', ['queue'], async (bed) => {
      const [a, b, c] = [bed.claim(), bed.claim(), bed.claim()];
      await bed.enterAll([a, b]);
      gone(await bed.enter(bed.claim({ queue: false })), 'refused');
      await bed.enter(c);
      await bed.leave(a);
      held(await bed.beat(b));
      waiting(await bed.beat(c));
    }),
    check('a try after the death of the holder is held', ['atomic try'], async (bed) => {
      const [dead] = await bed.entered({ ttlMs: bed.ttlMs });
      await bed.untilDead(dead);
      held(await bed.enter(bed.claim({ queue: false })));
    }),
    check('a refused try sends no hint', ['watch'], async (bed) => {
      const a = bed.claim();
      let wakes = 0;
      await bed.watch(a, () => wakes++);
      await bed.enter(a);
      gone(await bed.enter(bed.claim({ queue: false })), 'refused');
      await bed.quiet();
      assert.equal(wakes, 0);
    }),
  ],
};
