import { availableParallelism } from 'node:os';
import { Trial } from './trial.ts';

/** Does this for each item in turn, in as many copies of the project as there are cores. */
export async function inTrials<T>(
  items: readonly T[],
  act: (trial: Trial, item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const work = async (): Promise<void> => {
    const trial = await Trial.open();
    try {
      for (const item of left) await act(trial, item);
    } finally {
      await trial.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), items.length) }, work));
}
