import assert from 'node:assert/strict';
import { check, type Topic } from '../../../../src/testkit/case.ts';
import { Occupancy } from '../../../support/gate.ts';

export const semaphore: Topic = {
  topic: 'semaphore',
  needs: ['queue', 'permits'],
  cases: [
    check('never more permits than the limit are out, whatever their weight', async (bed) => {
      const stores = [bed.store, await bed.connect()];
      const locks = stores.map((store) => bed.locks({}, store).semaphore(bed.name(), { limit: 5 }));
      const room = new Occupancy();
      const task = (i: number) => {
        const permits = 1 + (i % 4);
        return locks[i % 2]?.run({ permits }, async (lease) => {
          assert.equal(lease.permits, permits);
          room.enter(permits);
          await bed.sleep(2);
          room.leave(permits);
        });
      };
      await Promise.all(Array.from({ length: 40 }, (_, i) => task(i)));
      assert.equal(room.entries, 40);
      assert.ok(room.most > 1 && room.most <= 5, `${room.most} permits were out`);
    }),
  ],
};
