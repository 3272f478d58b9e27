import { cpus, loadavg, release, type } from 'node:os';
import { bindingName } from './bare-sqlite.ts';

/** Above this the machine does something else as well, and figures mean little. */
const QUIET_LOAD = 0.5;

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

/** The load average of the last minute, with a warning if the machine is not quiet. */
export function load(): string {
  const [minute = 0] = loadavg();
  const text = `load ${minute.toFixed(2)} at the start`;
  return minute > QUIET_LOAD ? `${text}, not a quiet machine: measure again` : text;
}
