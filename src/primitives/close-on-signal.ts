/**
 * Closing on SIGINT and SIGTERM. All locks of the process close together, of every copy of the
 * library, and the signal takes effect when the last has closed. A second signal takes effect at
 * once.
 */
import { perProcess } from '../base/per-process.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

type Close = () => Promise<void>;

interface Registry {
  readonly closes: Set<Close>;
  readonly listener: (signal: NodeJS.Signals) => void;
}

/** Calls `close` on a signal; returns a function that removes it. */
export function closeOnSignal(close: Close): () => void {
  const { closes, listener } = perProcess('signals', newRegistry);
  if (closes.size === 0) for (const signal of SIGNALS) process.on(signal, listener);
  closes.add(close);
  return () => {
    if (closes.delete(close) && closes.size === 0) stop(listener);
  };
}

function newRegistry(): Registry {
  const closes = new Set<Close>();
  const listener = async (signal: NodeJS.Signals): Promise<void> => {
    stop(listener);
    await Promise.allSettled([...closes].map((close) => close()));
    process.kill(process.pid, signal);
  };
  return { closes, listener };
}

function stop(listener: Registry['listener']): void {
  for (const signal of SIGNALS) process.removeListener(signal, listener);
}
