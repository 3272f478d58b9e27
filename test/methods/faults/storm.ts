/** Many processes that want the same few locks as often as they can get them. */

import { expect } from 'vitest';
import { paced } from '../../support/this-run.ts';
import { disorderOf } from '../histories/holds.ts';
import { Child } from '../processes/child.ts';
import type { Stormed, StormerOptions } from '../processes/children/stormer.ts';

const PROCESSES = 16;
const RESOURCES = ['a', 'b', 'c', 'd'];
const ROUNDS = 5;

/** Nobody dies on the busiest machine; a message that is lost costs a third of it. */
export const STORM_TTL_MS: number = paced(9000);

/** The processes use these stores in turn; answers what the stores said meanwhile. */
export async function expectOrderIn(stores: readonly string[]): Promise<string[]> {
  const all = Array.from({ length: PROCESSES }, (_, i) => {
    const store = stores[i % stores.length] ?? '';
    // All but one, so that their batches overlap in every way.
    const resources = RESOURCES.filter((_, n) => n !== i % RESOURCES.length);
    const options: StormerOptions = { store, resources, rounds: ROUNDS, ttl: STORM_TTL_MS };
    return new Child('stormer', options);
  });
  await Promise.all(all.map((child) => child.next('ready')));
  for (const child of all) child.tell({ type: 'go' });
  const told = await Promise.all(all.map((child) => child.next<Stormed>('stormed')));
  const holds = told.flatMap((each) => each.holds);
  expect(disorderOf(holds)).toEqual([]);
  expect(holds.length).toBe(PROCESSES * (RESOURCES.length - 1) * ROUNDS);
  return [...new Set(told.flatMap(({ said }) => said))];
}
