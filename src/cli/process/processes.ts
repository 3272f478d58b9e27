/**
 * The processes of a command: its descendants, and those in its session, which belong to it even
 * when their parents are gone.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it started, in a unit of the system; another process may get its number later. */
  readonly started: string;
}

interface Origin {
  readonly pid: number;
  /** Every process in this session belongs to the command. */
  readonly session?: number | undefined;
  /** In a shared session: variables that only the command's processes have. */
  readonly environment: readonly string[];
}

/**
 * Finds the processes of an origin that run now, at each call, and knows them later even under
 * another parent; undefined if the system does not list them.
 */
export function offspringOf(origin: Origin): () => readonly ProcessEntry[] | undefined {
  const { session = entryOf(process.pid)?.session, environment } = origin;
  const known = new Map([[origin.pid, entryOf(origin.pid)?.started ?? '']]);
  const belongs = (entry: ProcessEntry): boolean => {
    if (entry.pid === process.pid) return false;
    if (known.has(entry.pid)) return true;
    if (entry.session !== session) return false;
    return origin.session !== undefined || hasEnvironment(entry.pid, environment);
  };
  return () => {
    const table = processTable();
    if (!table) return undefined;
    for (const { pid, started } of table) {
      const before = known.get(pid);
      if (before && before !== started) known.delete(pid);
    }
    const found = new Map<number, ProcessEntry>();
    for (let grew = true; grew; ) {
      grew = false;
      for (const entry of table) {
        if (found.has(entry.pid) || !(found.has(entry.parent) || belongs(entry))) continue;
        found.set(entry.pid, entry);
        known.set(entry.pid, entry.started);
        grew = true;
      }
    }
    return [...found.values()];
  };
}

/** All running processes; a zombie has ended, even if its parent never asks for its status. */
function processTable(): readonly ProcessEntry[] | undefined {
  try {
    if (process.platform !== 'linux') return tableOfPs();
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.flatMap((pid) => entryOf(Number(pid)) ?? []);
  } catch {
    return undefined;
  }
}

function tableOfPs(): readonly ProcessEntry[] {
  const columns = 'pid=,ppid=,pgid=,stat=,lstart=';
  const table = execFileSync('ps', ['-Ao', columns], { encoding: 'utf8', stdio: 'pipe' });
  return table.split('\n').flatMap((line) => {
    const [pid, parent, group, state, ...started] = line.trim().split(/\s+/);
    if (!pid || state?.startsWith('Z')) return [];
    // Systems show sessions in different ways; all of them show the group, a part of one.
    const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group) };
    return [{ ...numbers, session: numbers.group, started: started.join(' ') }];
  });
}

/** From Linux's /proc; undefined if the process has ended. */
function entryOf(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const [parent = 0, group = 0, session = 0] = fields.slice(1, 4).map(Number);
    return { pid, started: fields[19] ?? '', parent, group, session };
  } catch {
    return undefined;
  }
}

function hasEnvironment(pid: number, wanted: readonly string[]): boolean {
  try {
    const variables = new Set(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'));
    return wanted.every((each) => variables.has(each));
  } catch {
    return false;
  }
}
