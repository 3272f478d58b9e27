/** Holders of one lock that come at once, each with a token of its own. */
import { isLockError } from 'holdfast';
import { expect } from 'vitest';

/** Each changes a number or is refused, and the last is not. Answers how many have changed it. */
export async function changesAtOnce(
  holders: number,
  change: (token: bigint) => Promise<void>,
): Promise<number> {
  const tokens = Array.from({ length: holders }, (_, n) => BigInt(n + 1));
  const outcomes = await Promise.allSettled(tokens.map(change));
  let changes = 0;
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') changes++;
    else expect(isLockError(outcome.reason, 'STALE_TOKEN')).toBe(true);
  }
  expect(outcomes.at(-1)?.status).toBe('fulfilled');
  return changes;
}
