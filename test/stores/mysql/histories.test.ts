/**
 * What real processes write down is linearizable, while they are stopped, killed and blocked, and
 * the server stands still and crashes: with all its data, or without the last of them. That it need
 * not be, and would be found out, is shown with the file that processes share
 * (test/methods/processes/histories.test.ts).
 * Long runs: `test/methods/histories/run.ts --store mariadb`.
 */
import { test } from 'vitest';
import { expectLegal } from '../../methods/histories/legal.ts';
import { sufferingMariadb } from '../../methods/histories/suffering.ts';

test.concurrent.each([
  { durability: 'strict', seed: 1 },
  { durability: 'fast', seed: 2 },
] as const)(
  'four processes and their server suffer, durability $durability: the history is legal',
  async ({ durability, seed }) => expectLegal(await sufferingMariadb(durability), { seed }),
);
