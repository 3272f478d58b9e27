import { Trial } from './trial.ts';

export interface Copies {
  /** Of the project, at once. */
  readonly copies: number;
  /** See `Trial.open`. */
  readonly brisk?: boolean;
}

/** Does this for each item in turn, in copies of the project. */
export async function inTrials<T>(
  items: readonly T[],
  { copies, ...options }: Copies,
  act: (trial: Trial, item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const work = async (): Promise<void> => {
    const trial = await Trial.open(options);
    try {
      for (const item of left) await act(trial, item);
    } finally {
      await trial.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(copies, items.length) }, work));
}
