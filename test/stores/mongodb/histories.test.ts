/**
 * What real processes write down is linearizable, while they are stopped, killed and blocked, and
 * the server stands still and crashes. Its clock tells when claims are dead, a little late.
 * Long runs: `test/methods/histories/run.ts --store mongodb`.
 */
import { test } from 'vitest';
import { expectLegal, HISTORY_PATIENCE_MS } from '../../methods/histories/legal.ts';
import { sufferingMongodb } from '../../methods/histories/suffering.ts';

test(
  'four processes and their server suffer: the history is legal',
  {
    timeout: HISTORY_PATIENCE_MS,
  },
  async () => expectLegal(await sufferingMongodb(), { seed: 2 }),
);
