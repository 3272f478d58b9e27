import assert from 'node:assert/strict';
import { check, type Topic } from '../../../../src/testkit/case.ts';
import { LONG_MS } from '../../../../src/testkit/test-bed.ts';

const MIN_HOLD_MS = 500;

/** A semaphore with `minHold`. */
export const rate: Topic = {
  topic: 'rate',
  cases: [
    check(
      'no more holds than the limit begin in any minHold, and none waits for a heartbeat',
      async (bed) => {
        const { permits, queue } = bed.store.traits;
        const limit = permits ? 3 : 1;
        const stores = [bed.store, await bed.connect()];
        const locks = stores.map((store) =>
          bed.locks({}, store).semaphore(bed.name(), { limit, minHold: MIN_HOLD_MS }),
        );
        const begun: number[] = [];
        const begin = (i: number) => locks[i % 2]?.run(({ since }) => void begun.push(since));
        await Promise.all(Array.from({ length: 2 * limit + 1 }, (_, i) => begin(i)));
        begun.sort((a, b) => a - b);
        for (const [i, at] of begun.slice(limit).entries()) {
          const passed = at - (begun[i] ?? 0);
          // The store counts by a clock of its own, in whole ms.
          const least = MIN_HOLD_MS * 0.98;
          assert.ok(passed >= least, `${limit + 1} holds began within ${passed} ms`);
        }
        // Without a queue, a waiter may find the others quicker again and again.
        if (!queue) return;
        const took = (begun.at(-1) ?? 0) - (begun[0] ?? 0);
        const ttl = Math.min(LONG_MS, bed.store.maxTtlMs ?? LONG_MS);
        assert.ok(took < ttl / 3, `two turns took ${took} ms, as long as until a heartbeat`);
      },
    ),
  ],
};
