import { cpus, release, type } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { bindingName } from './floors/sqlite.ts';

/**
 * How much of a core others may use. A figure keeps up to all cores busy: its client, its servers
 * and the kernel. What others take is missing in it, and not in each round alike.
 */
const QUIET_CORES = 0.2;

/** The average load of the system would remember the figure before. */
const LOOK_MS = 5_000;
const PATIENCE_MS = 10 * 60_000;

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

/** How many cores were busy on average while this looked. */
export async function busyCores(): Promise<number> {
  const before = ticks();
  await sleep(LOOK_MS);
  const after = ticks();
  const [all, idle] = [after.all - before.all, after.idle - before.idle];
  return (cpus().length * (all - idle)) / all;
}

function ticks(): { readonly all: number; readonly idle: number } {
  let [all, idle] = [0, 0];
  for (const { times } of cpus()) {
    for (const ms of Object.values(times)) all += ms;
    idle += times.idle;
  }
  return { all, idle };
}

/** Whether figures that begin at this can be published. */
export function isQuiet(busy: number): boolean {
  return busy <= QUIET_CORES;
}

/** Waits until the machine is quiet, or has not been for too long; returns what it saw last. */
export async function calm(): Promise<number> {
  const until = Date.now() + PATIENCE_MS;
  let busy = await busyCores();
  if (isQuiet(busy)) return busy;
  console.error(`Waits up to ${PATIENCE_MS / 60_000} minutes for a quiet machine …`);
  while (!isQuiet(busy) && Date.now() < until) busy = await busyCores();
  return busy;
}

/** How busy the machine was before each run, with a warning if it was not quiet. */
export function conditions(each: readonly number[]): string {
  const all = each.map((busy) => busy.toFixed(2)).join(', ');
  const before = `${all} cores busy with others before`;
  const text = each.length === 1 ? before : `medians of ${each.length} runs, ${before} each`;
  return each.every(isQuiet) ? text : `${text}, not a quiet machine: measure again`;
}
