import type { Store } from 'holdfast';

/** A store with one promise broken. */
export interface BrokenStore {
  /** What is wrong with it. */
  readonly fault: string;
  /** The cases that have to notice, by their names. */
  readonly noticed: RegExp;
  break(store: Store): Partial<Store>;
}

/** It has every verb, as memory has. */
export type Sound = Required<Store>;

export function broken(
  fault: string,
  noticed: RegExp,
  breaks: (store: Sound) => Partial<Store>,
): BrokenStore {
  return { fault, noticed, break: (store) => breaks(store as Sound) };
}
