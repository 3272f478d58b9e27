import { cpus, loadavg, release, type } from 'node:os';
import { bindingName } from './floors/sqlite.ts';

/**
 * Of the last minute, for each core. A figure keeps up to all cores busy: its client, its servers
 * and the kernel. What others take is missing in it, and not in each round alike; with this, they
 * had a quarter of the machine at most.
 */
const QUIET_LOAD = 0.25;

export function machine(): string {
  const [cpu] = cpus();
  const cores = cpus().length;
  return [
    `${cpu?.model.trim() ?? 'unknown CPU'}, ${cores} cores`,
    `${type()} ${release()}`,
    `Node ${process.version.slice(1)}`,
    bindingName(),
  ].join('; ');
}

/** Whether figures that begin now can be published. */
export function isQuiet(): boolean {
  return minute() <= QUIET_LOAD * cpus().length;
}

/** The load average of the last minute, with a warning if the machine is not quiet. */
export function load(): string {
  const text = `load ${minute().toFixed(2)} at the start`;
  return isQuiet() ? text : `${text}, not a quiet machine: measure again`;
}

function minute(): number {
  return loadavg()[0] ?? 0;
}
