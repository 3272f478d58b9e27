import assert from 'node:assert/strict';
import type { Topic } from '../../../../src/testkit/case.ts';
import { countingStore } from '../../../../src/testkit/counting-store.ts';
import { gate, Occupancy } from '../../../support/gate.ts';
import type { LockOf } from './lock-of.ts';

/** Locks taken inside themselves: by mistake, or re-entrantly. */
export function nesting({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, nesting`,
    cases: [
      {
        name: 'a nested run of what is held already is refused at once',
        async run(bed) {
          const store = countingStore(bed.store);
          const lock = of(bed.locks({}, store), bed.name());
          await lock.run(async (lease) => {
            store.reset();
            const nested = async () => lock.run(() => assert.fail('it ran'));
            await assert.rejects(nested(), { code: 'DEADLOCK', resource: bed.name() });
            assert.equal(store.count('claim').requests, 0);
            assert.ok(lease.held);
          });
        },
      },
      {
        name: 'a nested run is refused however deep and late it comes',
        async run(bed) {
          const locks = bed.locks();
          const lock = of(locks, bed.name());
          await lock.run(() =>
            of(locks, bed.name('other')).run(async () => {
              await bed.sleep(20);
              const nested = async () => lock.run(() => assert.fail('it ran'));
              await assert.rejects(nested(), { code: 'DEADLOCK' });
            }),
          );
        },
      },
      {
        name: 'a nested tryRun of what is held already finds it held',
        async run(bed) {
          const lock = of(bed.locks(), bed.name());
          await lock.run(async () => {
            const result = await lock.tryRun(() => assert.fail('it ran'));
            assert.equal(result.acquired, false);
          });
        },
      },
      {
        name: 'different locks nest',
        async run(bed) {
          const locks = bed.locks();
          const value = await of(locks, bed.name('a')).run(() =>
            of(locks, bed.name('b')).run(() => of(locks, bed.name('c')).run(() => 42)),
          );
          assert.equal(value, 42);
        },
      },
      {
        name: 'the same lock one after the other is no nesting',
        async run(bed) {
          const lock = of(bed.locks(), bed.name());
          assert.equal(await lock.run(() => 1), 1);
          assert.equal(await lock.run(() => 2), 2);
        },
      },
      {
        name: 're-entrant, a nested run enters at once with the same token',
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { reentrant: true });
          await lock.run(async (outer) => {
            const inner = await lock.run(async (lease) => {
              assert.ok(await lock.run(({ held }) => held));
              return lease.token;
            });
            assert.equal(inner, outer.token);
            assert.ok(outer.held, 'the outer run goes on');
            const tried = await lock.tryRun(({ token }) => token);
            assert.deepEqual(tried, { acquired: true, value: outer.token });
          });
          assert.equal((await bed.look()).holders.length, 0);
        },
      },
      {
        name: 're-entrant, parallel siblings exclude each other',
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { reentrant: true });
          const room = new Occupancy();
          await lock.run(async () => {
            const sibling = () =>
              lock.run(async () => {
                room.enter();
                await bed.sleep(5);
                await lock.run(() => bed.sleep(5));
                room.leave();
              });
            await Promise.all([sibling(), sibling(), sibling()]);
          });
          assert.deepEqual([room.most, room.entries], [1, 3]);
        },
      },
      {
        name: 're-entrant, a sibling that waits can give up',
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { reentrant: true });
          await lock.run(async () => {
            const done = gate();
            const first = bed.later(lock.run(() => done.opened));
            const late = lock.run({ wait: 50 }, () => assert.fail('it ran'));
            await assert.rejects(late, { code: 'ACQUIRE_TIMEOUT' });
            done.open();
            await first;
            assert.equal(await lock.run(() => 42), 42);
          });
        },
      },
      {
        name: 're-entrant, the error of a nested run reaches its caller and harms no other run',
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { reentrant: true });
          const error = new Error('inner');
          await lock.run(async (lease) => {
            const inner = lock.run(() => Promise.reject(error));
            await assert.rejects(inner, (caught) => caught === error);
            assert.ok(lease.held);
            assert.equal(await lock.run(() => 42), 42);
          });
        },
      },
      {
        name: 're-entrant, work left behind has to wait like any other',
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { reentrant: true });
          const left = gate();
          const course: string[] = [];
          let floating: Promise<bigint> = Promise.resolve(0n);
          const token = await lock.run(async (lease) => {
            floating = left.opened.then(() =>
              lock.run((late) => {
                course.push('left behind');
                return late.token;
              }),
            );
            return lease.token;
          });
          const next = await lock.acquire();
          left.open();
          await bed.quiet();
          course.push('released');
          await next.release();
          const late = await floating;
          assert.ok(bed.store.traits.tokens === undefined || late > token);
          assert.deepEqual(course, ['released', 'left behind']);
        },
      },
      {
        name: 're-entrant, the lock is kept until all nested runs are done',
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { reentrant: true });
          const other = of(bed.locks(), bed.name());
          const course: string[] = [];
          const entered = gate();
          let inner: Promise<unknown> = Promise.resolve();
          const outer = lock.run(async () => {
            entered.open();
            inner = lock.run(async (lease) => {
              await bed.sleep(100);
              course.push(`inner, ${lease.held ? 'held' : 'not held'}`);
            });
          });
          const next = outer.then(() => course.push('outer'));
          await entered.opened;
          await other.run(() => void course.push('other'));
          await Promise.all([inner, next]);
          assert.equal(course[0], 'inner, held');
        },
      },
      {
        name: 'acquire is never re-entrant',
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { reentrant: true });
          await lock.run(async () => {
            await assert.rejects(lock.acquire({ wait: 50 }), { code: 'ACQUIRE_TIMEOUT' });
            assert.equal(await lock.tryAcquire(), null);
          });
        },
      },
      {
        name: 'others are shut out while a nested run runs',
        async run(bed) {
          const lock = of(bed.locks(), bed.name(), { reentrant: true });
          const other = of(bed.locks(), bed.name());
          await lock.run(() =>
            lock.run(async () => {
              assert.equal(await other.tryAcquire(), null);
            }),
          );
          assert.ok((await other.tryAcquire())?.held);
        },
      },
    ],
  };
}
