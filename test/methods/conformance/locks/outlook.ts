import assert from 'node:assert/strict';
import { list } from '../../../../src/operators/list.ts';
import { check, type Topic } from '../../../../src/testkit/case.ts';
import { listed } from '../../../support/listed.ts';

/** The view from outside: lists and prefixes. */
export const outlook: Topic = {
  topic: 'inspect, list, prefixes',
  cases: [
    check('a prefix goes before every name and separates what has another', async (bed) => {
      const [one, other] = [bed.locks({ prefix: bed.name('1:') }), bed.locks()];
      const lease = await one.mutex('x').acquire();
      assert.equal(lease.resource, bed.name('1:x'));
      assert.equal((await one.inspect('x')).holders.length, 1);
      assert.equal((await other.inspect(bed.name('1:x'))).holders.length, 1);
      assert.equal((await other.inspect('x')).holders.length, 0);
    }),
    check('a list gives names without the prefix', ['list'], async (bed) => {
      const locks = bed.locks({ prefix: bed.name('1:') });
      for (const name of ['ab', 'ac', 'b']) await locks.mutex(name).acquire();
      await bed.locks().mutex(bed.name('2:ab')).acquire();
      assert.deepEqual((await listed(list(locks))).sort(), ['ab', 'ac', 'b']);
      assert.deepEqual((await listed(list(locks, 'a'))).sort(), ['ab', 'ac']);
      assert.deepEqual(await listed(list(locks, 'c')), []);
    }),
  ],
};
