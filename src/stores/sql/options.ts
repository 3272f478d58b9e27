/** What all stores in a database may be told. */
import { type Duration, parseDuration } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { checkMaxWaiters } from '../../contract/max-waiters.ts';
import type { SqlStoreParts } from './sql-store.ts';

export interface SqlOptions {
  /**
   * Longest ttl that any program asks for, the same for all who use these locks; default 30 s.
   * After a loss of data nothing is granted for so long.
   */
  readonly maxTtl?: Duration;
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
  /**
   * Default `wait`: whenever the server may have lost claims, nothing is granted before all their
   * leases are over. `trust` does not wait, and leaves it to others whether they do, so that two
   * may hold the same lock for a while: for tests, and where only time is wasted then.
   */
  readonly afterDataLoss?: 'wait' | 'trust';
}

export const SQL_OPTIONS: readonly string[] = ['maxTtl', 'maxWaiters', 'afterDataLoss'];

/** @throws UsageError */
export function settingsOf(
  options: SqlOptions,
): Pick<SqlStoreParts, 'maxTtlMs' | 'maxWaiters' | 'trust'> {
  const { maxTtl = 30_000, maxWaiters, afterDataLoss = 'wait' } = options;
  oneOf(afterDataLoss, ['wait', 'trust'], 'afterDataLoss');
  return {
    maxTtlMs: parseDuration(maxTtl, 'maxTtl'),
    maxWaiters: checkMaxWaiters(maxWaiters),
    trust: afterDataLoss === 'trust',
  };
}

/** @throws UsageError */
export function oneOf(value: string, choices: readonly string[], what: string): void {
  if (choices.includes(value)) return;
  throw new UsageError(`${what} must be '${choices.join("' or '")}', not ${show(value)}.`);
}
