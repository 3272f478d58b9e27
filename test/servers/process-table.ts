/** What the system tells of processes, ours or not. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Whether it runs or stands still; one that has ended, though nobody took note, does not count. */
export function alive(pid: number): boolean {
  return !['', 'Z', 'X'].includes(stateOf(pid));
}

/** `R`, `S`, `T` and so on, as `ps` tells it; empty if there is no such process. */
export function stateOf(pid: number): string {
  return fieldsOf(pid)[0]?.slice(0, 1) ?? '';
}

export function childrenOf(parent: number): number[] {
  const pids =
    process.platform === 'linux'
      ? readdirSync('/proc').filter((name) => /^\d+$/.test(name))
      : ps('-A', '-o', 'pid=').split('\n');
  return pids.map(Number).filter((pid) => Number(fieldsOf(pid)[1]) === parent);
}

/** Its state, its parent, and more, as the system has them. */
function fieldsOf(pid: number): string[] {
  if (process.platform !== 'linux') {
    return ps('-o', 'stat=,ppid=', '-p', `${pid}`).trim().split(/\s+/);
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before them, in brackets, may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

function ps(...args: string[]): string {
  return spawnSync('ps', args, { encoding: 'utf8' }).stdout;
}
