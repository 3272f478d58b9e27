import { isLockError } from 'holdfast';
import { expect } from 'vitest';

/** What the work rejects with; undefined if it does not. */
export function failureOf<Failure = unknown>(work: Promise<unknown>): Promise<Failure | undefined> {
  return work.then(
    () => undefined,
    (error: Failure) => error,
  );
}

/** What is said of a mistake, without this secret. */
export function usageErrorOf(work: () => unknown, secret: string | RegExp): string {
  try {
    work();
  } catch (error) {
    expect(isLockError(error, 'USAGE')).toBe(true);
    expect(String(error)).not.toMatch(secret);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}
