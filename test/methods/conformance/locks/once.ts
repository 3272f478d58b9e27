import assert from 'node:assert/strict';
import { isLockError } from '../../../../src/base/errors.ts';
import { once } from '../../../../src/jobs/once/index.ts';
import { refresh } from '../../../../src/jobs/refresh/index.ts';
import { evict } from '../../../../src/operators/evict.ts';
import type { Topic } from '../../../../src/testkit/case.ts';
import { gate, Occupancy } from '../../../support/gate.ts';

export const onceCases: Topic = {
  topic: 'once',
  needs: ['keep', 'recall'],
  cases: [
    {
      name: 'of many concurrent callers one does the work, and all get its result',
      async run(bed) {
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
      },
    },
    {
      name: 'finished work is reported with its holder and token, and the key is free',
      async run(bed) {
        const locks = bed.locks({ label: 'the first' });
        let token = 0n;
        const ran = await once(locks, bed.name(), { keepFor: '1m' }, (lease) => {
          token = lease.token;
          return 5;
        });
        assert.deepEqual(ran, { state: 'ran', value: 5 });
        const again = await once(bed.locks(), bed.name(), { keepFor: '1m' }, () => assert.fail());
        assert.equal(again.state, 'done');
        assert.deepEqual([again.value, again.token], [undefined, token]);
        assert.equal(again.by.label, 'the first');
        assert.ok(again.leftMs > 0);
        const { holders } = await locks.inspect(`once:${bed.name()}`);
        assert.equal(holders.length, 0);
      },
    },
    {
      name: 'a failure frees the key at once, for the next waiter',
      async run(bed) {
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
      },
    },
    {
      name: 'a caller that does not wait is told that the work runs, and later that it is done',
      async run(bed) {
        const [begun, go] = [gate(), gate()];
        const first = once(
          bed.locks({ label: 'busy' }),
          bed.name(),
          { keepFor: '1m' },
          async () => {
            begun.open();
            await go.opened;
          },
        );
        await begun.opened;
        const options = { keepFor: '1m', ifRunning: 'skip' } as const;
        const other = bed.locks();
        const now = await once(other, bed.name(), options, () => assert.fail());
        assert.equal(now.state, 'running');
        assert.equal(now.holders[0]?.holder.label, 'busy');
        go.open();
        await first;
        const later = await once(other, bed.name(), options, () => assert.fail());
        assert.equal(later.state, 'done');
      },
    },
    {
      name: 'when the time of a record is over, the work is done again',
      async run(bed) {
        const locks = bed.locks();
        const keepFor = `${2 * bed.ttlMs}ms` as const;
        await once(locks, bed.name(), { keepFor }, () => 1);
        await bed.until('it was done anew', async () => {
          return (await once(locks, bed.name(), { keepFor: '1m' }, () => 2)).state === 'ran';
        });
      },
    },
    {
      name: 'a caller that lost its lease has not done the work, and the next one does it',
      needs: ['evict', 'tokens'],
      async run(bed) {
        const locks = bed.locks();
        const late = once(locks, bed.name(), { keepFor: '1m' }, async (lease) => {
          await evict(locks, `once:${bed.name()}`, {
            token: lease.token,
            reason: 'test',
            now: true,
          });
          return 'late';
        });
        await assert.rejects(late, (error) => isLockError(error, 'LEASE_LOST'));
        const next = await once(locks, bed.name(), { keepFor: '1m' }, () => 'next');
        assert.deepEqual(next, { state: 'ran', value: 'next' });
      },
    },
  ],
};

export const refreshCases: Topic = {
  topic: 'refresh',
  needs: [],
  cases: [
    {
      name: 'of many callers that find the value stale one loads, and all get the new one',
      async run(bed) {
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
    },
    {
      name: 'a failure is told to all waiters, and not repeated for each',
      needs: ['keep', 'recall'],
      async run(bed) {
        const locks = [bed.locks(), bed.locks({}, await bed.connect())];
        let loads = 0;
        const options = {
          read: () => undefined,
          load: async () => {
            loads++;
            await bed.sleep(5);
            throw new Error('the door is shut');
          },
          // Longer than this machine may stand still.
          retryAfter: '20s',
        } as const;
        const asked = Array.from({ length: 20 }, (_, i) =>
          refresh(locks[i % 2]!, bed.name(), options),
        );
        const results = await Promise.allSettled(asked);
        assert.equal(loads, 1);
        for (const [i, result] of results.entries()) {
          assert.equal(result.status, 'rejected', `caller ${i}`);
          const shut = /the door is shut/.test(String(result.reason));
          assert.ok(shut || isLockError(result.reason, 'REFRESH'), String(result.reason));
        }
      },
    },
    {
      name: 'a caller that may use the old value does not wait for the new one',
      async run(bed) {
        const [begun, go] = [gate(), gate()];
        let value: string | undefined;
        const options = {
          read: () => value,
          load: async () => {
            begun.open();
            await go.opened;
            value = 'new';
            return value;
          },
          staleWhileRefreshing: () => 'old',
        };
        const first = bed.locks();
        const loading = refresh(first, bed.name(), options);
        await begun.opened;
        assert.equal(await refresh(first, bed.name(), options), 'old');
        const other = bed.locks({}, await bed.connect());
        assert.equal(await refresh(other, bed.name(), options), 'old');
        go.open();
        assert.equal(await loading, 'new');
        assert.equal(await refresh(other, bed.name(), options), 'new');
      },
    },
  ],
};
