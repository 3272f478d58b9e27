/**
 * Listening that goes on: a failed try is repeated for as long as a claim wants messages.
 *
 * Invariant: while the server can be reached, no waiter is without messages for longer than one try
 * and one pause, about a second; and since messages were lost meanwhile, all are woken once when a
 * try succeeds after one that failed. A refusal that will not pass by itself is tried again now and
 * then, because an operator may grant the right.
 * What would break it: a first try that is the only one.
 */
import { timers } from '../base/clock.ts';
import type { StoreError } from '../contract/errors.ts';
import { Warnings } from './warnings.ts';
import { isLasting } from './wire.ts';

/** The pause before the next try, in ms: after a passing or a lasting failure. */
const PAUSE_MS = { passing: 250, lasting: 60_000 };

export interface ListeningTerms {
  /** Asked before each further try, and before a warning. */
  readonly wanted: () => boolean;
  readonly end: () => void;
  /** It listens, after a try that had failed. */
  readonly late: () => void;
  /** Gets the reason if it does not pass at once. Default: warns, once. */
  readonly cannot?: ((error: unknown) => void) | undefined;
}

/** Resolves after the first try; never rejects. */
export async function listening(
  listen: () => Promise<unknown>,
  terms: ListeningTerms,
  failures = 0,
): Promise<void> {
  try {
    await listen();
  } catch (error) {
    const lasting = isLasting(error);
    if ((lasting || failures > 0) && terms.wanted()) (terms.cannot ?? warn)(error);
    const again = (): void => {
      if (terms.wanted()) void listening(listen, terms, failures + 1);
      else terms.end();
    };
    timers.setTimeout(again, PAUSE_MS[lasting ? 'lasting' : 'passing']).unref();
    return;
  }
  if (failures > 0) terms.late();
}

/** What `follow` returns, or will return: then `late` is called. A claim asks until then. */
export async function followLasting(
  follow: () => Promise<AsyncDisposable>,
  late: () => void,
): Promise<AsyncDisposable> {
  let over = false;
  let followed: AsyncDisposable | undefined;
  const end = async (): Promise<void> => {
    over = true;
    await followed?.[Symbol.asyncDispose]();
  };
  const listen = async (): Promise<void> => {
    followed = await follow();
    if (over) await end();
  };
  await listening(listen, { wanted: () => !over, end: () => {}, late });
  return { [Symbol.asyncDispose]: end };
}

/** Waits are safe but slow. */
export function warnOfSilence(warnings: Warnings, error: unknown): void {
  const message =
    'The store cannot tell this process what becomes of its waiting claims, so they ask now and' +
    ` then instead of being woken, until it can: ${(error as StoreError).message}`;
  warnings.warn('HOLDFAST_NO_WAKE', message);
}

const own = new Warnings();

export function warn(error: unknown): void {
  warnOfSilence(own, error);
}
