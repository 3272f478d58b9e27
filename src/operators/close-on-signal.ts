/**
 * Closing on SIGINT and SIGTERM. All locks of the process close together, of every copy of the
 * library, and the signal takes effect when the last has closed. A second signal takes effect at
 * once.
 *
 * Process 1, as in a container, is sent no signal whose default would end it: the kernel drops it.
 * So there the process exits, with the status that a shell reports for the signal.
 */
import { constants } from 'node:os';
import { perProcess } from '../base/per-process.ts';
import { engineOf, type Locks } from '../locks.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

interface Registry {
  readonly locks: Set<Locks>;
  readonly listener: (signal: NodeJS.Signals) => void;
}

/**
 * On SIGINT and SIGTERM, closes these locks and then lets the signal take effect. Returns them.
 *
 * @example
 * import { closeOnSignal, createLocks } from 'holdfast';
 * import { memoryStore } from 'holdfast/memory';
 *
 * const locks = closeOnSignal(createLocks(memoryStore()));
 *
 * @throws UsageError, ClosedError
 */
export function closeOnSignal(locks: Locks): Locks {
  const engine = engineOf(locks);
  engine.checkOpen();
  const registry = perProcess('closed-on-signal', newRegistry);
  if (registry.locks.size === 0) {
    for (const signal of SIGNALS) process.on(signal, registry.listener);
  }
  registry.locks.add(locks);
  engine.closables.add({ close: () => forget(registry, locks) });
  return locks;
}

function newRegistry(): Registry {
  const locks = new Set<Locks>();
  const listener = async (signal: NodeJS.Signals): Promise<void> => {
    stop(listener);
    await Promise.allSettled([...locks].map((each) => each.close()));
    if (process.pid === 1 && process.listenerCount(signal) === 0) {
      process.exit(128 + constants.signals[signal]);
    }
    process.kill(process.pid, signal);
  };
  return { locks, listener };
}

function forget({ locks, listener }: Registry, closed: Locks): void {
  if (locks.delete(closed) && locks.size === 0) stop(listener);
}

function stop(listener: Registry['listener']): void {
  for (const signal of SIGNALS) process.removeListener(signal, listener);
}
