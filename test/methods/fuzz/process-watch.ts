/** What a run must not do to the process, and the list of what was wrong with it. */
import { inspect } from 'node:util';

const complaints: string[] = [];

/** Notes something that must not be; the run fails at its end, with all of them. */
export function complain(what: string, detail?: unknown): void {
  complaints.push(detail === undefined ? what : `${what}: ${inspect(detail)}`);
}

export interface ProcessWatch {
  /** @throws Error with all complaints since the last time. */
  check(): void;
  stop(): void;
}

/** Which course fast-check takes; with a path, only the one that failed. */
export interface Replay {
  readonly seed: number;
  readonly path?: string | undefined;
}

const EVENTS = ['SIGINT', 'SIGTERM', 'exit', 'beforeExit', 'warning', 'unhandledRejection'];

/**
 * From now on, errors that nobody handles are complaints, and warnings are only counted: listeners
 * that throw cause them.
 */
export function watchProcess(): ProcessWatch {
  const unhandled = (reason: unknown): void => complain('a rejection that nobody handles', reason);
  const uncaught = (error: unknown): void => complain('an exception that nobody catches', error);
  const { emitWarning } = process;
  process.on('unhandledRejection', unhandled);
  process.on('uncaughtException', uncaught);
  process.emitWarning = () => {};
  const resources = countResources();
  const listeners = countListeners();
  return {
    check() {
      const now = countResources();
      if (now !== resources) complain(`resources are open that were not: ${now}, not ${resources}`);
      const left = countListeners();
      if (left !== listeners) complain(`listeners on the process: ${left}, not ${listeners}`);
      if (complaints.length === 0) return;
      throw new Error(complaints.splice(0, complaints.length).slice(0, 5).join('\n'));
    },
    stop() {
      process.off('unhandledRejection', unhandled);
      process.off('uncaughtException', uncaught);
      process.emitWarning = emitWarning;
    },
  };
}

function countListeners(): string {
  return EVENTS.map((event) => `${event} ${process.listenerCount(event)}`).join(', ');
}

/** Immediates are how the fuzzer itself waits. */
function countResources(): string {
  const kinds = process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate');
  return kinds.sort().join(', ');
}
