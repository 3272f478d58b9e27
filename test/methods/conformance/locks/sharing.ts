import assert from 'node:assert/strict';
import { check, type Topic } from '../../../../src/testkit/case.ts';
import { countingStore } from '../../../../src/testkit/counting-store.ts';
import { Occupancy } from '../../../support/gate.ts';
import type { LockOf } from './lock-of.ts';
import { later, untilItWaits } from './waits.ts';

/** Exclusion and order, inside one process and between several `Locks` on one store. */
export function sharing({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, sharing`,
    cases: [
      check('several Locks on several connections exclude each other', async (bed) => {
        const stores = [bed.store, await bed.connect(), await bed.connect()];
        const locks = stores.map((store) => of(bed.locks({}, store), bed.name()));
        const room = new Occupancy();
        const tokens: bigint[] = [];
        let sold = 0;
        const task = (i: number) =>
          locks[i % 3]?.run(async ({ token }) => {
            room.enter();
            tokens.push(token);
            const before = sold;
            await bed.sleep(1);
            sold = before + 1;
            room.leave();
          });
        await Promise.all(Array.from({ length: 30 }, (_, i) => task(i)));
        assert.deepEqual([room.most, sold], [1, 30]);
        if (bed.store.traits.tokens === undefined) return;
        for (const [i, token] of tokens.entries()) assert.ok(token > (tokens[i - 1] ?? 0n));
      }),
      check('a process with many tasks leaves turns to others', async (bed) => {
        const resource = bed.name();
        const greedy = of(bed.locks(), resource);
        const stores = [await bed.connect(), await bed.connect()];
        const modest = stores.map((store) => of(bed.locks({}, store), resource));
        const tasks = 32;
        const count = { turns: 0, going: true };
        const task = async (): Promise<void> => {
          while (count.going) {
            await greedy.run(() => bed.sleep(1));
            count.turns += 1;
          }
        };
        const all = Promise.all(Array.from({ length: tasks }, task));
        // None waits for the other, or the other would have fewer turns than it could have.
        const meanwhile = modest.map(async (lock) => {
          // Nobody knows of the first.
          await lock.run(() => {});
          const before = count.turns;
          for (let i = 0; i < 8; i++) await lock.run(() => {});
          return count.turns - before;
        });
        const turns = await Promise.all(meanwhile);
        count.going = false;
        await all;
        // Each has at least a tenth of what it would have among them all in turn.
        const most = 8 * 10 * (tasks + modest.length);
        assert.ok(Math.max(...turns) <= most, `${turns} turns`);
      }),
      check(
        'fair, tasks of several connections come in the order of their arrival',
        ['queue'],
        async (bed) => {
          const stores = [bed.store, await bed.connect()];
          const locks = stores.map((store) => of(bed.locks({}, store), bed.name(), { fair: true }));
          const first = await locks[0]?.acquire();
          const course: number[] = [];
          const tasks: Promise<unknown>[] = [];
          for (let i = 0; i < 8; i++) {
            const task = locks[i % 2]?.run(() => void course.push(i));
            tasks.push(task ?? assert.fail());
            await bed.until('it waited', async () => (await bed.look()).waiters.length === i + 1);
          }
          await first?.release();
          await Promise.all(tasks);
          assert.deepEqual(course, [0, 1, 2, 3, 4, 5, 6, 7]);
        },
      ),
      check('a waiter is woken by a hint, not by polling', ['queue', 'watch'], async (bed) => {
        const holder = await of(bed.locks(), bed.name()).acquire();
        const store = countingStore(await bed.connect());
        const wait = later(of(bed.locks({}, store), bed.name()).acquire());
        await untilItWaits(bed);
        store.reset();
        // Far less than a third of 20 s, when the first heartbeat comes.
        await bed.sleep(500);
        assert.equal(store.total(), 0);
        await holder.release();
        assert.ok((await wait).held);
        assert.ok(store.total() <= 3, `${store.total()} requests for one hand-off`);
      }),
    ],
  };
}
