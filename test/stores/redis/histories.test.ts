/**
 * What real processes write down is linearizable, while they are stopped, killed and blocked, and
 * the server stands still and crashes without its data. That it need not be, and would be found
 * out, is shown with the file that processes share (test/methods/processes/histories.test.ts).
 * Long runs: `test/methods/histories/run.ts --store redis`.
 */
import { test } from 'vitest';
import { expectLegal } from '../../methods/histories/legal.ts';
import { sufferingRedis } from '../../methods/histories/suffering.ts';

test.concurrent.each([1, 2])(
  'four processes and their server suffer: history %i is legal',
  async (seed) => expectLegal(await sufferingRedis(), { seed }),
);
