import assert from 'node:assert/strict';
import { evict } from '../../../../src/operators/evict.ts';
import { allOf } from '../../../../src/primitives/multi-lock.ts';
import type { Topic } from '../../../../src/testkit/case.ts';

export const all: Topic = {
  topic: 'all',
  cases: [
    {
      name: 'all parts are held together and given back together',
      async run(bed) {
        const locks = bed.locks();
        const both = allOf([locks.mutex(bed.name('b')), locks.mutex(bed.name('a'))]);
        await both.run(async ({ leases, held, signal }) => {
          assert.deepEqual(
            leases.map((lease) => lease.resource),
            [bed.name('b'), bed.name('a')],
          );
          assert.deepEqual([held, signal.aborted], [true, false]);
          for (const part of ['a', 'b']) {
            assert.equal((await bed.look(bed.name(part))).holders.length, 1);
          }
        });
        for (const part of ['a', 'b']) {
          assert.equal((await bed.look(bed.name(part))).holders.length, 0);
        }
      },
    },
    {
      name: 'opposite orders do not deadlock',
      async run(bed) {
        const [one, other] = [bed.locks(), bed.locks({}, await bed.connect())];
        const transfers = Array.from({ length: 20 }, (_, i) => {
          const locks = i % 2 ? one : other;
          const parts = [locks.mutex(bed.name('a')), locks.mutex(bed.name('b'))];
          return allOf(i % 3 ? parts : parts.reverse()).run(() => bed.sleep(1));
        });
        await Promise.all(transfers);
      },
    },
    {
      name: 'a wait that runs out gives back what was taken',
      async run(bed) {
        const locks = bed.locks();
        const held = await locks.mutex(bed.name('b')).acquire();
        const both = allOf([locks.mutex(bed.name('a')), locks.mutex(bed.name('b'))]);
        await assert.rejects(both.acquire({ wait: 60 }), { code: 'ACQUIRE_TIMEOUT' });
        assert.equal((await bed.look(bed.name('a'))).holders.length, 0);
        await held.release();
        assert.ok((await both.acquire()).held);
      },
    },
    {
      name: 'an abort gives back what was taken',
      async run(bed) {
        const locks = bed.locks();
        await locks.mutex(bed.name('b')).acquire();
        const aborter = new AbortController();
        const both = allOf([locks.mutex(bed.name('a')), locks.mutex(bed.name('b'))]);
        const wait = bed.later(both.acquire({ signal: aborter.signal }));
        await bed.until('the first part was held', async () => {
          return (await bed.look(bed.name('a'))).holders.length === 1;
        });
        // The store knows before the client does.
        await bed.quiet();
        aborter.abort(new Error('enough'));
        await assert.rejects(wait, /enough/);
        assert.equal((await bed.look(bed.name('a'))).holders.length, 0);
      },
    },
    {
      name: 'a try that fails leaves nothing behind and tells who holds',
      needs: ['holders as they are'],
      async run(bed) {
        const locks = bed.locks({ label: 'the holder' });
        await locks.mutex(bed.name('b')).acquire();
        const both = allOf([locks.mutex(bed.name('a')), locks.mutex(bed.name('b'))]);
        assert.equal(await both.tryAcquire(), null);
        assert.equal((await bed.look(bed.name('a'))).holders.length, 0);
        const result = await both.tryRun(() => assert.fail('it ran'));
        assert.ok(!result.acquired);
        assert.deepEqual(
          result.holders.map(({ holder }) => holder.label),
          ['the holder'],
        );
      },
    },
    {
      name: 'the loss of one part is the loss of all',
      needs: ['evict', 'tokens'],
      async run(bed) {
        const locks = bed.locks();
        const both = allOf([locks.mutex(bed.name('a')), locks.mutex(bed.name('b'))]);
        const run = both.run(async ({ leases, signal, assertHeld }) => {
          const token = leases[1]?.token ?? 0n;
          await evict(locks, bed.name('b'), { token, reason: 'test', now: true });
          await bed.until('the signal fired', () => signal.aborted);
          assert.throws(assertHeld, { code: 'LEASE_LOST', resource: bed.name('b') });
        });
        await assert.rejects(run, { code: 'LEASE_LOST', reason: 'evicted' });
        assert.equal((await bed.look(bed.name('a'))).holders.length, 0);
      },
    },
    {
      name: 'a multi-lock inside one of its parts is refused at once',
      async run(bed) {
        const locks = bed.locks();
        const part = locks.mutex(bed.name('a'));
        const both = allOf([part, locks.mutex(bed.name('b'))]);
        await part.run(async () => {
          const nested = async () => both.run(() => assert.fail('it ran'));
          await assert.rejects(nested(), { code: 'DEADLOCK' });
        });
        await both.run(async () => {
          const nested = async () => part.run(() => assert.fail('it ran'));
          await assert.rejects(nested(), { code: 'DEADLOCK' });
        });
      },
    },
    {
      name: 'parts of every kind go together',
      needs: ['queue', 'permits'],
      async run(bed) {
        const locks = bed.locks();
        const parts = [
          locks.mutex(bed.name('mutex')),
          locks.semaphore(bed.name('permits'), { limit: 3 }),
          locks.rwLock(bed.name('rw')).read,
          locks.rwLock(bed.name('rw 2')).write,
        ];
        const kinds = await allOf(parts).run(({ leases }) => leases.map(({ kind }) => kind));
        assert.deepEqual(kinds, ['mutex', 'permits', 'read', 'write']);
      },
    },
  ],
};
