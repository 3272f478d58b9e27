/**
 * The processes that a command has become: those that descend from it, and those of its session,
 * which have it as their origin even when their parents are gone.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it started, in a unit of the system's, so that another with its number is told apart. */
  readonly started: string;
}

export interface Origin {
  readonly pid: number;
  /** Everything in this session belongs to the command. */
  readonly session?: number | undefined;
  /** Where the session is shared with others: what those of the command have as environment. */
  readonly environment: readonly string[];
}

/** Finds what an origin has become; what was found once is known, whoever its parent is by then. */
export class Offspring {
  readonly #origin: Origin;
  readonly #known = new Map<number, string>();

  constructor(origin: Origin) {
    this.#origin = origin;
    this.#known.set(origin.pid, entryOf(origin.pid)?.started ?? '');
  }

  /** Those that run now, with their groups; undefined if this system does not tell. */
  running(): readonly Entry[] | undefined {
    const table = processTable();
    if (!table) return undefined;
    for (const { pid, started } of table) {
      const known = this.#known.get(pid);
      if (known && known !== started) this.#known.delete(pid);
    }
    const found = new Map<number, Entry>();
    for (let grew = true; grew; ) {
      grew = false;
      for (const entry of table) {
        if (found.has(entry.pid) || !(found.has(entry.parent) || this.#belongs(entry))) continue;
        found.set(entry.pid, entry);
        this.#known.set(entry.pid, entry.started);
        grew = true;
      }
    }
    return [...found.values()];
  }

  #belongs(entry: Entry): boolean {
    const { session, environment } = this.#origin;
    if (entry.pid === process.pid) return false;
    if (this.#known.has(entry.pid)) return true;
    if (session !== undefined) return entry.session === session;
    return sessionOfOurs() === entry.session && hasEnvironment(entry.pid, environment);
  }
}

let ours: number | undefined;

function sessionOfOurs(): number | undefined {
  ours ??= entryOf(process.pid)?.session;
  return ours;
}

/** All that run; a zombie has ended, though nobody may ever ask how. */
function processTable(): readonly Entry[] | undefined {
  try {
    if (process.platform !== 'linux') return tableOfPs();
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.flatMap((pid) => entryOf(Number(pid)) ?? []);
  } catch {
    return undefined;
  }
}

function tableOfPs(): readonly Entry[] {
  const columns = 'pid=,ppid=,pgid=,stat=,lstart=';
  const table = execFileSync('ps', ['-Ao', columns], { encoding: 'utf8', stdio: 'pipe' });
  return table.split('\n').flatMap((line) => {
    const [pid, parent, group, state, ...started] = line.trim().split(/\s+/);
    if (!pid || state?.startsWith('Z')) return [];
    // Sessions are told in different ways; a group is the part of one that everybody tells.
    const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group) };
    return [{ ...numbers, session: numbers.group, started: started.join(' ') }];
  });
}

/** From Linux's /proc; undefined if it has ended. */
function entryOf(pid: number): Entry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may itself hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, parent, group, session] = fields;
    if (state === 'Z' || state === 'X') return undefined;
    const started = fields[19] ?? '';
    return {
      pid,
      started,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
    };
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
