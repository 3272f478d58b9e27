import { Trial } from './trial.ts';

/** Does this for each item in turn, in so many copies of the project at once. */
export async function inTrials<T>(
  items: readonly T[],
  copies: number,
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
  await Promise.all(Array.from({ length: Math.min(copies, items.length) }, work));
}
