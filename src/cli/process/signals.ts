/**
 * Signals that this process is sent. It never ends by one at once: a claim has to be given back
 * first, and a running command has to end before the lock does.
 */
import type { Lease } from '../../core/lease.ts';
import { type Command, onTerminal } from '../command.ts';

/** By which programs are asked to end, or end if they do not expect them. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** Those that a terminal sends to its whole foreground group, and so to the command as well. */
const OF_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGWINCH']);

/** Aborts with the signal as its reason. */
export function untilSignal(): AbortSignal {
  const aborter = new AbortController();
  for (const signal of ENDING) process.on(signal, () => aborter.abort(signal));
  return aborter.signal;
}

/**
 * Hands what comes on to the command, once there is one. To be called before it is started, in the
 * same turn of the event loop.
 */
export function passSignals(lease: Lease, command: () => Command | undefined): void {
  const terminal = onTerminal();
  // What the terminal sent before there was a command is heard in the next turn. The first of these
  // may still belong to this one.
  let early = true;
  setImmediate(() =>
    setImmediate(() => {
      early = false;
    }),
  );
  for (const signal of [...ENDING, 'SIGWINCH'] as const) {
    process.on(signal, () => {
      if (early || !terminal || !OF_TERMINAL.has(signal)) command()?.pass(signal);
    });
  }
  process.on('SIGCONT', () => {
    // Who stood still may have lost the lock. Then the command must end before it goes on.
    if (lease.held && !terminal) command()?.signal('SIGCONT');
  });
  if (terminal) return;
  process.on('SIGTSTP', () => {
    // A session without a terminal takes no SIGTSTP.
    command()?.signal('SIGSTOP');
    process.kill(process.pid, 'SIGSTOP');
  });
}

/** Ends this process by the signal, as if it had never listened. */
export function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
