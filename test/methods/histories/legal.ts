import { expect, test } from 'vitest';
import { record } from './record.ts';
import type { Suffering } from './suffering.ts';

interface Options {
  readonly seed: number;
  /** Why it has to be skipped, if it has to. */
  readonly why?: string | undefined;
}

/**
 * What real processes write down is linearizable, while they are stopped, killed and blocked, and
 * the server stands still and crashes. That it need not be, and would be found out, is shown with
 * the file that processes share (test/methods/processes/histories.test.ts). Long runs:
 * `test/methods/histories/run.ts --store NAME`.
 */
export function legalHistory(start: () => Promise<Suffering>, { seed, why }: Options): void {
  const title = `four processes and their server suffer: history ${seed} is legal`;
  test.concurrent(title, async ({ skip }) => {
    skip(why !== undefined, why);
    const { close, ...suffering } = await start();
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
  });
}
