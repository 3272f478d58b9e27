import { onTestFinished } from 'vitest';

/** Closes it when the test is over. */
export function closing<T extends { close?(): unknown }>(thing: T): T {
  onTestFinished(async () => void (await thing.close?.()));
  return thing;
}
