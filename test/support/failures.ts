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
    expect(error).toMatchObject({ code: 'USAGE' });
    expect((error as Error).stack).not.toMatch(secret);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}
