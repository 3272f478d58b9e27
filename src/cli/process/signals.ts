/**
 * Signals to this process. None ends it at once: it releases its claim first, and a running command
 * must end before the lock does.
 */
import type { Lease } from '../../core/lease.ts';
import { type Command, onTerminal } from '../command.ts';

/** They ask programs to end, or end those that do not expect them. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** A terminal sends them to its whole foreground group, and so to the command as well. */
const OF_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGWINCH']);

/** Aborts with the signal as its reason. */
export function untilSignal(): AbortSignal {
  const aborter = new AbortController();
  for (const signal of ENDING) process.on(signal, () => aborter.abort(signal));
  return aborter.signal;
}

/**
 * Passes signals on to the command, once it runs. Call this before it starts, in the same turn of
 * the event loop. Returns the way to stop.
 */
export function passSignals(lease: Lease, command: () => Command | undefined): () => void {
  const listeners = new Map<NodeJS.Signals, () => void>();
  const terminal = onTerminal();
  // A signal that the terminal sent before the command existed arrives in the next turn. The first
  // of these immediates may still belong to this turn.
  let early = true;
  setImmediate(() =>
    setImmediate(() => {
      early = false;
    }),
  );
  for (const signal of [...ENDING, 'SIGWINCH'] as const) {
    listeners.set(signal, () => {
      if (early || !terminal || !OF_TERMINAL.has(signal)) command()?.pass(signal);
    });
  }
  listeners.set('SIGCONT', () => {
    // The lock may have been lost during the stop. Then the command must end before it resumes.
    if (lease.held && !terminal) command()?.signal('SIGCONT');
  });
  if (!terminal) {
    listeners.set('SIGTSTP', () => {
      // A session without a terminal ignores SIGTSTP.
      command()?.signal('SIGSTOP');
      process.kill(process.pid, 'SIGSTOP');
    });
  }
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}

/** Ends this process by the signal, as if it had never listened. */
export function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
