/** What the system tells of processes, ours or not, and does to them. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { HANG_MS } from '../support/this-run.ts';

/** Stopped, or ended. */
const STILL = new Set(['T', 't', 'Z', 'X', '']);

/** Whether it runs or stands still; one that has ended, though nobody took note, does not count. */
export function alive(pid: number): boolean {
  return !['', 'Z', 'X'].includes(stateOf(pid));
}

/** `R`, `S`, `T` and so on, as `ps` tells it; empty if there is no such process. */
export function stateOf(pid: number): string {
  return fieldsOf(pid)[0]?.slice(0, 1) ?? '';
}

/** Whether it does nothing until it goes on: a signal reaches each of its threads by itself. */
export function standsStill(pid: number): boolean {
  return threadsOf(pid).every((state) => STILL.has(state.slice(0, 1)));
}

/** Stops them, and returns when they stand still: on a busy machine that is up to 30 ms later. */
export function halt(...pids: readonly number[]): void {
  const deadline = performance.now() + HANG_MS;
  for (const pid of pids) signal(pid, 'SIGSTOP');
  while (!pids.every(standsStill)) {
    if (performance.now() > deadline) throw new Error('never stood still');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}

/** Ending by itself is no failure. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function childrenOf(parent: number): number[] {
  const pids =
    process.platform === 'linux'
      ? readdirSync('/proc').filter((name) => /^\d+$/.test(name))
      : ps('-A', '-o', 'pid=').split('\n');
  return pids.map(Number).filter((pid) => Number(fieldsOf(pid)[1]) === parent);
}

function threadsOf(pid: number): string[] {
  if (process.platform !== 'linux') return [stateOf(pid)];
  try {
    return readdirSync(`/proc/${pid}/task`).map((id) => statOf(`${pid}/task/${id}`)[0] ?? '');
  } catch {
    return [];
  }
}

/** Its state, its parent, and more, as the system has them. */
function fieldsOf(pid: number): string[] {
  if (process.platform === 'linux') return statOf(`${pid}`);
  return ps('-o', 'stat=,ppid=', '-p', `${pid}`).trim().split(/\s+/);
}

function statOf(process: string): string[] {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'latin1');
    // The name before them, in brackets, may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

function ps(...args: string[]): string {
  return spawnSync('ps', args, { encoding: 'utf8' }).stdout;
}
