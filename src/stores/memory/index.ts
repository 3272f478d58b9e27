import { type Clock, checkClock } from '../../base/clock.ts';
import { type Duration, duration } from '../../base/duration.ts';
import { checkOptions } from '../../base/options.ts';
import { maxWaiters } from '../../contract/max-waiters.ts';
import type { Store } from '../../contract/store.ts';
import { Memory } from './memory-store.ts';

export interface MemoryStoreOptions {
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
  /** How long the store grants nothing after `forget()`; default 30 s, the default of `maxTtl`. */
  readonly quarantine?: Duration;
  readonly clock?: Clock;
}

/** A store in this process's memory. `forget()` loses everything, as a crashed server would. */
export interface MemoryStore extends Store {
  forget(): void;
}

/**
 * Locks between the tasks of one process.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { memoryStore } from 'holdfast/memory';
 *
 * const locks = createLocks(memoryStore());
 *
 * @throws UsageError
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { quarantine: quarantineMs, ...rest } = checkOptions(options, CHECKS, 'memoryStore');
  return new Memory({ ...rest, quarantineMs });
}

const CHECKS = { maxWaiters, quarantine: duration(30_000), clock: checkClock };
