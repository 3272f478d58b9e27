import { type Clock, checkClock, systemClock } from '../../base/clock.ts';
import { type Duration, parseDuration } from '../../base/duration.ts';
import { readOptions } from '../../base/options.ts';
import { checkMaxWaiters } from '../../contract/max-waiters.ts';
import type { Store } from '../../contract/store.ts';
import { Memory } from './memory-store.ts';

export interface MemoryStoreOptions {
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
  /** How long `forget()` keeps everybody waiting; default 30 s, the default of `maxTtl`. */
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
  const { clock = systemClock(), ...rest } = readOptions(options, OPTIONS, 'memoryStore');
  const { maxWaiters, quarantine = 30_000 } = rest;
  checkClock(clock);
  return new Memory({
    clock,
    maxWaiters: checkMaxWaiters(maxWaiters),
    quarantineMs: parseDuration(quarantine, 'quarantine'),
  });
}

const OPTIONS = ['maxWaiters', 'quarantine', 'clock'];
