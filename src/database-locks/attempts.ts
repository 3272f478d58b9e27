/** Attempts that other transactions defeat, with pauses between them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../base/errors.ts';
import { show } from '../base/show.ts';

/** The longest pause after the first attempt, and after any, in ms; each is a random part of it. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** @throws UsageError */
export function checkAttempts(attempts: number): void {
  if (Number.isSafeInteger(attempts) && attempts >= 1) return;
  throw new UsageError(`attempts must be a whole number of at least 1, not ${show(attempts)}.`);
}

/** Rejects with the reason of the signal. */
export async function pauseAfter(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  await sleep(Math.random() * longest, undefined, signal && { signal }).catch(() => {
    signal?.throwIfAborted();
  });
}
