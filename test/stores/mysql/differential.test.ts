import { describe, expect, test } from 'vitest';
import { differ } from '../../methods/differential/differ.ts';
import { MAX_TTL_MS } from '../../methods/differential/steps.ts';
import { worldOf } from './caller.ts';
import { PRODUCTS } from './fault-bed.ts';

/** Beyond what a queue that nobody is in is remembered for. */
const LONG_MS = 700_000;

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  // Nobody dies because the machine is busy.
  const world = await worldOf(server, { slower: 20 });

  test('answers and tells as memory does', async () => {
    await differ({
      open: (options) => world.store({ maxTtl: MAX_TTL_MS, trust: true, ...options }),
      pass: (ms) => world.step(ms),
      mayAsk: true,
      groups: 3,
    });
    world.step(LONG_MS);
    await world.sweep();
    for (const table of ['lock', 'news', 'kept']) {
      expect(await server.query(`select * from holdfast_${table}`), table).toEqual([]);
    }
  });
});
