/**
 * Closing on SIGINT and SIGTERM. All locks of the process close together, of every copy of the
 * library, and the signal takes effect when the last has closed. A second signal takes effect at
 * once.
 *
 * Process 1, as in a container, is sent no signal whose default would end it: the kernel drops it.
 * So there the process exits, with the status that a shell reports for the signal.
 */
import { constants } from 'node:os';
import { onAbort } from '../base/aborts.ts';
import type { Duration } from '../base/duration.ts';
import { checkOptions } from '../base/options.ts';
import { perProcess } from '../base/per-process.ts';
import { CLOSE, engineOf, type Locks } from '../locks.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * On SIGINT and SIGTERM, closes these locks and then lets the signal take effect. Returns them.
 * Running work may go on for `drain`, default 10 s, before its signal aborts.
 *
 * @example
 * import { closeOnSignal, createLocks } from 'holdfast';
 * import { memoryStore } from 'holdfast/memory';
 *
 * const locks = closeOnSignal(createLocks(memoryStore()), { drain: '2s' });
 *
 * @throws UsageError, ClosedError
 */
export function closeOnSignal(locks: Locks, options: { readonly drain?: Duration } = {}): Locks {
  const engine = engineOf(locks);
  const { drain } = checkOptions(options, CLOSE, 'closeOnSignal');
  engine.checkOpen();
  const { drains, listener } = perProcess('closing-on-signal', newRegistry);
  if (drains.size === 0) for (const signal of SIGNALS) process.on(signal, listener);
  drains.set(locks, drain);
  onAbort(engine.closing.signal, () => {
    if (drains.delete(locks) && drains.size === 0) stop(listener);
  });
  return locks;
}

function newRegistry() {
  // How long the work of these locks may go on, in ms.
  const drains = new Map<Locks, number>();
  const listener = async (signal: NodeJS.Signals): Promise<void> => {
    stop(listener);
    await Promise.allSettled([...drains].map(([locks, drain]) => locks.close({ drain })));
    if (process.pid === 1 && process.listenerCount(signal) === 0) {
      process.exit(128 + constants.signals[signal]);
    }
    process.kill(process.pid, signal);
  };
  return { drains, listener };
}

function stop(listener: (signal: NodeJS.Signals) => void): void {
  for (const signal of SIGNALS) process.removeListener(signal, listener);
}
