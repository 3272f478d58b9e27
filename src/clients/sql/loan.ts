/**
 * How to connect, learnt from a connection of a pool that does not show its settings.
 *
 * With its first verb a store borrows a connection, and gives it back at once. Keeping two of the
 * pool's connections would be simpler and wrong: it may have only one. If a program uses that one
 * in a transaction in which it waits for a lock, it waits for itself: so an error and a warning
 * report a pool that lends none. The request stays until one is free.
 */
import { keptOnce } from '../../base/single-flight.ts';
import { temporaryFailure } from '../../contract/errors.ts';
import { abortable, limited } from '../abortable.ts';
import { Warnings } from '../warnings.ts';

/** How long a pool may take to lend a connection, in ms. Making one takes less. */
const LOAN_MS = 500;

/** Keeps what is learnt, but no failure. `lent`: how many connections are lent out, if known. */
export function learntOnLoan<T>(
  title: string,
  learn: () => Promise<T>,
  lent: () => number | undefined,
): (signal: AbortSignal) => Promise<T> {
  const warnings = new Warnings();
  const known = keptOnce(learn);
  return async (signal) => {
    const asked = known();
    try {
      return await limited(LOAN_MS, [signal], (within) => abortable(within, asked));
    } catch (error) {
      const late = error instanceof DOMException && error.name === 'TimeoutError';
      if (!late || signal.aborted) throw error;
      // A pool that has lent none has not made any yet.
      const exhausted = lent() !== 0;
      const message = `The pool of ${title} has ${exhausted ? EXHAUSTED : UNCONNECTED}`;
      if (exhausted) warnings.warn('HOLDFAST_POOL_EXHAUSTED', message);
      throw temporaryFailure(message);
    }
  };
}

const EXHAUSTED =
  'lent out all its connections. The locks borrow one for their first call, to learn how to' +
  ' connect: use them before the pool is exhausted, or give them another pool.';

/** The pool goes on trying, and tells the reason when it gives up. */
const UNCONNECTED =
  'made no connection yet: its server may not be running, or may refuse the connection.';
