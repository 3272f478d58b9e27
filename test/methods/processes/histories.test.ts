/**
 * What real processes write down while they are stopped, killed and blocked is linearizable. The
 * controls show that it need not be: the same processes without a look at the lease, or without a
 * fence, are found out. Long runs: `test/methods/histories/run.ts`.
 */
import { describe, expect, test } from 'vitest';
import { type Judged, record } from '../histories/record.ts';

const store = 'sqlite:{folder}/locks.db';

/** Long enough for a handful of faults, beside the start of the processes. */
const SECONDS = 3;

/** Whether a fault meets somebody at the wrong moment is chance; a few histories are enough. */
async function findIllegal(
  without: 'lease' | 'fence',
  of: (judged: Judged) => string,
): Promise<Judged | undefined> {
  for (let seed = 1; seed <= 5; seed++) {
    const options = { store, seed, without, seconds: SECONDS } as const;
    const judged = await record({ ...options, faults: ['stop', 'block'] });
    if (of(judged) === 'illegal') return judged;
  }
  return undefined;
}

describe('histories of four processes', () => {
  test('with stops, kills and blocked event loops are legal', async () => {
    const seeds = [1, 2];
    const all = await Promise.all(seeds.map((seed) => record({ store, seed, seconds: SECONDS })));
    for (const { lock, counter, operations, faults } of all) {
      expect(lock.disorders.map(({ message }) => message)).toEqual([]);
      expect(counter.disorders.map(({ message }) => message)).toEqual([]);
      expect(operations).toBeGreaterThan(50);
      expect(faults.length).toBeGreaterThan(1);
    }
  });

  test('control: who does not look at the lease is caught, and the fence holds', async () => {
    const found = await findIllegal('lease', ({ lock }) => lock.verdict);
    expect(found?.counter.verdict).toBe('legal');
  });

  test('control: who writes past the fence loses updates', async () => {
    const found = await findIllegal('fence', ({ counter }) => counter.verdict);
    expect(found?.lock.verdict).toBe('legal');
  });
});
