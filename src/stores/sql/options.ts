/** The options that all stores in a database have. */
import { type Duration, duration } from '../../base/duration.ts';
import { type Checked, type Checks, oneOf } from '../../base/options.ts';
import { maxWaiters } from '../../contract/admission.ts';
import type { SqlRowStoreParts } from './row-store.ts';

export interface SqlOptions {
  /**
   * Longest ttl that any program asks for, the same in all programs that use these locks; default
   * 30 s. After a loss of data the store grants nothing for this long.
   */
  readonly maxTtl?: Duration;
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
  /**
   * Default `wait`: when the server may have lost claims, the store grants nothing before all their
   * leases are over. `trust` does not wait, whatever other programs do, so two may hold the same
   * lock for a while: for tests, and where that only wastes time.
   */
  readonly afterDataLoss?: 'wait' | 'trust';
}

export const SQL: Checks<SqlOptions> = {
  maxTtl: duration(30_000),
  maxWaiters,
  afterDataLoss: oneOf('wait', 'trust'),
};

export function settingsOf(
  options: Checked<typeof SQL>,
): Pick<SqlRowStoreParts, 'maxTtlMs' | 'maxWaiters' | 'trust'> {
  const { maxTtl: maxTtlMs, maxWaiters, afterDataLoss } = options;
  return { maxTtlMs, maxWaiters, trust: afterDataLoss === 'trust' };
}
