import assert from 'node:assert/strict';
import { evict } from '../../../../src/operators/evict.ts';
import { list } from '../../../../src/operators/list.ts';
import type { Topic } from '../../../../src/testkit/case.ts';
import { later, untilItWaits } from './waits.ts';

/** The view from outside: queues, lists, prefixes, evictions. */
export const outlook: Topic = {
  topic: 'inspect, list, prefixes',
  cases: [
    {
      name: 'a prefix goes before every name and separates what has another',
      async run(bed) {
        const [one, other] = [bed.locks({ prefix: bed.name('1:') }), bed.locks()];
        const lease = await one.mutex('x').acquire();
        assert.equal(lease.resource, bed.name('1:x'));
        assert.equal((await one.inspect('x')).holders.length, 1);
        assert.equal((await other.inspect(bed.name('1:x'))).holders.length, 1);
        assert.equal((await other.inspect('x')).holders.length, 0);
      },
    },
    {
      name: 'a list gives names without the prefix',
      needs: ['list'],
      async run(bed) {
        const locks = bed.locks({ prefix: bed.name('1:') });
        for (const name of ['ab', 'ac', 'b']) await locks.mutex(name).acquire();
        await bed.locks().mutex(bed.name('2:ab')).acquire();
        assert.deepEqual(await collect(list(locks)), ['ab', 'ac', 'b']);
        assert.deepEqual(await collect(list(locks, 'a')), ['ab', 'ac']);
        assert.deepEqual(await collect(list(locks, 'c')), []);
      },
    },
    {
      name: 'a queue shows holders and waiters with tokens as leases have them',
      needs: ['queue', 'tokens'],
      async run(bed) {
        const locks = bed.locks();
        const first = await locks.mutex(bed.name()).acquire();
        const second = later(bed.locks().mutex(bed.name()).acquire());
        await untilItWaits(bed);
        const { holders, waiters } = await locks.inspect(bed.name());
        assert.deepEqual([holders.length, waiters.length], [1, 1]);
        assert.equal(holders[0]?.number, first.token);
        await first.release();
        const { token } = await second;
        // A store made of several may raise its number to that of another.
        assert.ok(token >= (waiters[0]?.number ?? token), `${token} after ${waiters[0]?.number}`);
      },
    },
    {
      name: 'evicting a claim that is not there returns false',
      needs: ['evict'],
      async run(bed) {
        const locks = bed.locks();
        assert.equal(await evict(locks, bed.name(), { token: 1n, reason: 'test' }), false);
        const { token, release } = await locks.mutex(bed.name()).acquire();
        await release();
        assert.equal(await evict(locks, bed.name(), { token, reason: 'test' }), false);
      },
    },
  ],
};

async function collect(names: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const name of names) all.push(name);
  return all.sort();
}
