/** As those of PostgreSQL. Long runs: `test/methods/histories/run.ts --store mariadb`. */
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
