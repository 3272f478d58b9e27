import { cpus, loadavg, release, type } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { bindingName } from './floors/sqlite.ts';

/**
 * Of the last minute, for each core. A figure keeps up to all cores busy: its client, its servers
 * and the kernel. What others take is missing in it, and not in each round alike; with this, they
 * had a quarter of the machine at most.
 */
const QUIET_LOAD = 0.25;

/** Of our own run before, a load average forgets most in two minutes. */
const PATIENCE_MS = 10 * 60_000;
const LOOK_EVERY_MS = 5_000;

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

/** Of the last minute. */
export function loadNow(): number {
  return loadavg()[0] ?? 0;
}

/** Whether figures that begin at this load can be published. */
export function isQuiet(load: number): boolean {
  return load <= QUIET_LOAD * cpus().length;
}

/** Waits until the machine is quiet, or has not been for too long. */
export async function calm(): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  if (isQuiet(loadNow())) return;
  console.error(`Waits up to ${PATIENCE_MS / 60_000} minutes for a quiet machine …`);
  while (!isQuiet(loadNow()) && Date.now() < until) await setTimeout(LOOK_EVERY_MS);
}

/** What the loads at the start of each run were, with a warning if the machine was not quiet. */
export function loads(each: readonly number[]): string {
  const all = each.map((load) => load.toFixed(2)).join(', ');
  const text =
    each.length === 1
      ? `load ${all} at the start`
      : `medians of ${each.length} runs, load ${all} at their starts`;
  return each.every(isQuiet) ? text : `${text}, not a quiet machine: measure again`;
}
