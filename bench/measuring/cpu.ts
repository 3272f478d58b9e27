/** The CPU time of servers, whose processes the system knows. */
import { readdirSync, readFileSync } from 'node:fs';

/** A tick of the system's counters, on every Linux. */
const TICK_MICROS = 10_000;

/** So far, in µs, with that of their child processes, of ended ones too; NaN if unknown. */
export function cpuMicros(pids: readonly number[]): number {
  if (process.platform !== 'linux' || pids.length === 0) return Number.NaN;
  let ticks = 0;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const fields = fieldsOf(pid);
    const own = pids.includes(Number(pid));
    if (!own && !pids.includes(Number(fields[1]))) continue;
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
    ticks += (user ?? 0) + (system ?? 0);
    if (own) ticks += (endedUser ?? 0) + (endedSystem ?? 0);
  }
  return ticks * TICK_MICROS;
}

/** From the state on; the name before it, in brackets, may hold anything. */
function fieldsOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
