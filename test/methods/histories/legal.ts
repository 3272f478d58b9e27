import { expect } from 'vitest';
import { record } from './record.ts';
import type { Suffering } from './suffering.ts';

/** Four processes and their server suffer for a while; what they write down is linearizable. */
export async function expectLegal(
  { close, ...suffering }: Suffering,
  { seed }: { readonly seed: number },
): Promise<void> {
  try {
    const judged = await record({ ...suffering, seed, operations: 300 });
    const { lock, counter, operations, faults } = judged;
    expect(lock.disorders.map(({ message }) => message)).toEqual([]);
    expect(counter.disorders.map(({ message }) => message)).toEqual([]);
    expect(operations).toBeGreaterThan(50);
    expect(faults.filter((fault) => fault.startsWith('server')).length).toBeGreaterThan(0);
    expect(faults.filter((fault) => !fault.startsWith('server')).length).toBeGreaterThan(0);
  } finally {
    await close();
  }
}
