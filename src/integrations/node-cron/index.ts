/**
 * `holdfast/node-cron`: of all instances that schedule a task with node-cron, one does each run.
 *
 * Invariant: each run is started at most once. node-cron names a run by its task and its scheduled
 * time, so all instances ask for the same key, whatever their clocks say. The key is a mutex, which
 * stays taken while the task runs, and for at least `ttlMs` from the grant: neither the end of a
 * quick run nor that of the process frees it earlier, because the store keeps it (`minHold`).
 * An instance asks at the scheduled time of its own clock, or up to `missedExecutionTolerance`
 * (1 s) later. So clocks may differ by `ttlMs` less that and a round trip: by about 28 s of 30.
 * If the holder dies, its run is lost, not repeated: the others were refused, and ask no more.
 * What would break it: clocks that differ by more; a process that stands still for longer than
 * `ttlMs` between its timer and its question; a store that loses its memory without noticing.
 */
import { quote } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import type { Lease } from '../../core/lease.ts';
import { engineOf, type Locks } from '../../locks.ts';

/** What node-cron asks before and after each run of a task with `distributed: true`. */
export interface RunCoordinator {
  /**
   * Whether this instance does the run. `ttlMs` counts up to the `maxTtl` of the locks.
   * @throws StoreError if the store is away or grants nothing, and ClosedError.
   */
  shouldRun(key: string, ttlMs: number): Promise<boolean>;
  /** Ends the run. Never rejects. */
  onComplete(key: string): Promise<void>;
}

/**
 * Lets one of all instances do each run, on any store, with node-cron 4.6 or newer.
 * @example
 * import { runCoordinator } from 'holdfast/node-cron';
 *
 * const options = { name: 'report', distributed: true, runCoordinator: runCoordinator(locks) };
 * // cron.schedule('0 3 * * *', buildReport, options);
 *
 * @throws UsageError unless it is given Locks.
 */
export function runCoordinator(locks: Locks): RunCoordinator {
  const { maxTtlMs } = engineOf(locks).services.settings;
  const running = new Map<string, Lease>();
  return {
    async shouldRun(key, ttlMs) {
      const name = `cron:${key}`;
      const mutex = locks.mutex(name, { minHold: Math.min(ttlMs, maxTtlMs) });
      // In some stores a try may fail although the lock is free.
      for (let tries = 1; tries <= 3; tries += 1) {
        const lease = await mutex.tryAcquire();
        if (lease) running.set(key, lease);
        if (lease || (await locks.inspect(name)).holders.length > 0) return lease !== null;
      }
      // Else no instance would run, and each would say that another one does.
      const message = `The store granted ${quote(name)} to no instance: the run is skipped.`;
      throw new StoreError(message, { retryable: true, outcome: 'failed' });
    },
    async onComplete(key) {
      await running.get(key)?.release();
      running.delete(key);
    },
  };
}
