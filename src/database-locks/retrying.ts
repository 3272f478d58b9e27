/**
 * Runs a whole transaction again, when the database has rolled it back in favour of others.
 *
 * Invariant: work whose transaction may have been committed is not run again. By a deadlock, a
 * time-out, a serialization failure or a cancelled statement, the database says that it has rolled
 * back, even at COMMIT: once it has committed, its answer stands. A broken connection says nothing:
 * it counts as a rollback only if it broke at a statement of Holdfast inside the transaction, which
 * came before any COMMIT.
 * What would break it: work that commits and then goes on, such as in a hook of an ORM that runs
 * after the commit, whose error is that of the transaction; or two statements through a pool.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError, messageOf } from '../base/errors.ts';
import { asGiven, callable, checkOptions, wholeNumber } from '../base/options.ts';
import { causesOf } from '../clients/causes.ts';
import { isRetryable, reasonIn, TransactionError } from '../clients/sql/errors.ts';

export interface RetryingOptions {
  /** How often to run the work at most. Default: 5, with pauses that grow. */
  readonly attempts?: number;
  /** Ends the attempts; rejects with its reason. Work under way goes on to its end. */
  readonly signal?: AbortSignal;
}

const CHECKS = { attempts: triesOf(5), signal: asGiven<AbortSignal | undefined> };

/**
 * Runs a transaction again when the database says that it may succeed then: after a deadlock, a
 * lock time-out, a serialization failure, a cancelled statement. Any other error ends it at once.
 *
 * @param work one whole transaction, from BEGIN to COMMIT, of any client that Holdfast takes. It
 *   gets the number of the attempt, does nothing outside that a rollback would not undo, and has no
 *   hooks that use the database after the commit.
 * @returns what the work returns.
 * @example
 * import { retrying, rowLock } from 'holdfast/sql';
 *
 * await retrying(() => sql.begin((tx) => rowLock(tx, { table: 'stock', key: { sku } })));
 *
 * @throws TransactionError with the reason of the last failure if all attempts failed; with the
 *   outcome `unknown` if the connection broke, perhaps at COMMIT: the work may be done.
 * @throws UsageError, and whatever else the work throws.
 */
export async function retrying<T>(
  work: (attempt: number) => T | PromiseLike<T>,
  options: RetryingOptions = {},
): Promise<Awaited<T>> {
  const { attempts, signal } = checkOptions(options, CHECKS, 'retrying');
  callable(work, 'The work');
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      if (mayBeCommitted(error)) throw failed(error, COMMITTED, 'unknown');
      if (!isRetryable(error)) throw error;
      if (attempt === attempts) throw failed(error, `Gave up after ${attempts} attempts`, 'failed');
    }
    await pauseAfter(attempt, signal);
  }
}

const COMMITTED = 'The connection broke, perhaps at COMMIT, so the work may be done';

/** A statement of Holdfast's inside a transaction came before any COMMIT. */
function mayBeCommitted(error: unknown): boolean {
  if (isLockError(error, 'TRANSACTION')) return (error as TransactionError).outcome === 'unknown';
  // What was refused a connection has not begun.
  const refused = causesOf(error).some(({ code }) => code === 'ECONNREFUSED');
  return !refused && reasonIn(error) === 'connection';
}

function failed(cause: unknown, what: string, outcome: 'failed' | 'unknown'): TransactionError {
  const retryable = outcome === 'failed';
  const terms = { reason: reasonIn(cause), retryable, outcome, cause };
  return new TransactionError(`${what}: ${messageOf(cause)}`, terms);
}

/** The longest pause after the first attempt, and after any, in ms; each is a random part of it. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** The check of `attempts`, with this default. */
export function triesOf(attempts: number): ReturnType<typeof wholeNumber> {
  return wholeNumber(1, Number.POSITIVE_INFINITY, attempts);
}

/** Rejects with the reason of the signal. */
export async function pauseAfter(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  await sleep(Math.random() * longest, undefined, signal && { signal }).catch(() => {
    signal?.throwIfAborted();
  });
}
