/**
 * What real processes write down is linearizable, while they are stopped, killed and blocked, and
 * the server stands still and crashes. That it need not be, and would be found out, is shown with
 * the file that processes share (test/methods/processes/histories.test.ts). Long runs:
 * `test/methods/histories/run.ts --store zookeeper`.
 */
import { test } from 'vitest';
import { expectLegal } from '../../methods/histories/legal.ts';
import { sufferingZookeeper } from '../../methods/histories/suffering.ts';

test('four processes and their server suffer: the history is legal', async () =>
  expectLegal(await sufferingZookeeper(), { seed: 1 }));
