import assert from 'node:assert/strict';
import { once } from '../../../../src/jobs/once/index.ts';
import { refresh } from '../../../../src/jobs/refresh/index.ts';
import { check, type Topic } from '../../../../src/testkit/case.ts';
import { gate, Occupancy } from '../../../support/gate.ts';

export const onceCases: Topic = {
  topic: 'once',
  needs: ['keep', 'recall'],
  cases: [
    check('of many concurrent callers one does the work, and all get its result', async (bed) => {
      const locks = [bed.locks(), bed.locks({}, await bed.connect())];
      let runs = 0;
      const work = async () => {
        runs++;
        await bed.sleep(5);
        return { receipt: 'é 1', at: new Date(0) };
      };
      const options = { keepFor: '1m', keepResult: true } as const;
      const asked = Array.from({ length: 20 }, (_, i) =>
        once(locks[i % 2]!, bed.name(), options, work),
      );
      const results = await Promise.all(asked);
      assert.equal(runs, 1);
      assert.equal(results.filter((result) => result?.state === 'ran').length, 1);
      for (const result of results) {
        assert.deepEqual(result?.value, { receipt: 'é 1', at: '1970-01-01T00:00:00.000Z' });
      }
    }),
    check('a failure frees the key at once, for the next waiter', async (bed) => {
      const locks = bed.locks();
      const [begun, go] = [gate(), gate()];
      const first = once(locks, bed.name(), { keepFor: '1m' }, async () => {
        begun.open();
        await go.opened;
        throw new Error('no stock');
      });
      await begun.opened;
      const second = once(bed.locks(), bed.name(), { keepFor: '1m' }, () => 'second');
      go.open();
      await assert.rejects(first, /no stock/);
      assert.deepEqual(await second, { state: 'ran', value: 'second' });
    }),
  ],
};

export const refreshCases: Topic = {
  topic: 'refresh',
  needs: [],
  cases: [
    check(
      'of many callers that find the value stale one loads, and all get the new one',
      async (bed) => {
        const locks = [bed.locks(), bed.locks({}, await bed.connect())];
        const room = new Occupancy();
        let value: number | undefined;
        const options = {
          read: () => value,
          load: async () => {
            room.enter(1);
            await bed.sleep(5);
            value = room.entries;
            room.leave(1);
            return value;
          },
        };
        for (let round = 1; round <= 3; round++) {
          value = undefined;
          const asked = Array.from({ length: 20 }, (_, i) =>
            refresh(locks[i % 2]!, bed.name(), options),
          );
          for (const got of await Promise.all(asked)) assert.equal(got, round);
        }
        assert.deepEqual([room.entries, room.most], [3, 1]);
      },
    ),
  ],
};
