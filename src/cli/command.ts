/**
 * The command that runs under a lock, and all processes that it starts.
 *
 * Invariant: `run` ends only when the command has ended, and after a lost lease only when none of
 * its processes runs any more. A grandchild may do the work, and a signal to the command alone
 * would leave it behind; so signals that ask for an end (TERM, INT, HUP, QUIT) go to all of them.
 * Programs talk by other signals (USR1, USR2, WINCH), which would kill those that expect none.
 *
 * Without a terminal the command gets a session and a process group of its own (`detached`). One
 * system call then reaches the whole group at once, however quickly it forks, and nothing else. A
 * terminal would be out of its reach: ^C comes to the foreground group, which is ours, the command
 * cannot open /dev/tty, and Node cannot hand the terminal over (it has no tcsetpgrp). So if one of
 * the first three files is a terminal, the command stays in our group. It may read and write there,
 * the terminal sends it the keyboard's signals, and the shell stops and resumes both of us. But the
 * rest of a pipeline shares the group, so we find the command's processes by descent (processes.ts)
 * and by the token in their environment, and they get signals one by one until none is left.
 *
 * What breaks it: SIGKILL of this process, after which the command runs on without a lock and only
 * a fence protects. A process that leaves the session and loses its parents is a daemon, and stays.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { quote } from './output.ts';
import { ExitError, STATUS } from './process/exit-status.ts';
import { offspringOf } from './process/processes.ts';

/** How often `end` looks for processes, in ms: a person sees no difference. */
const LOOK_MS = 50;

export class Command {
  /** Resolves with the status, as in shells, and the signal that ended it, if one did. */
  readonly ended: Promise<CommandEnding>;
  readonly #child: ChildProcess;
  readonly #ownSession: boolean;
  readonly #offspring: ReturnType<typeof offspringOf>;

  private constructor(child: ChildProcess, ownSession: boolean, environment: readonly string[]) {
    this.#child = child;
    this.#ownSession = ownSession;
    const pid = child.pid as number;
    const session = ownSession ? pid : undefined;
    this.#offspring = offspringOf({ pid, session, environment });
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(endingOf(code, signal)));
    });
  }

  /** @throws ExitError if the command cannot be started. */
  static async start(
    words: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<Command> {
    const [file = '', ...args] = words;
    const ownSession = !onTerminal() && process.platform !== 'win32';
    const env = { ...process.env, ...environment };
    try {
      const child = spawn(file, args, { stdio: 'inherit', detached: ownSession, env });
      const marks = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
      if (child.pid === undefined) await once(child, 'spawn');
      return new Command(child, ownSession, marks);
    } catch (cause) {
      throw notStarted(file, cause);
    }
  }

  /** Passes on a signal that was sent to this process. */
  pass(signal: NodeJS.Signals): void {
    if (TALK.has(signal)) kill(this.#child.pid as number, signal);
    else this.signal(signal);
  }

  /** To all processes of the command. */
  signal(signal: NodeJS.Signals): void {
    const pid = this.#child.pid as number;
    if (this.#ownSession) kill(-pid, signal);
    for (const entry of this.#offspring() ?? [{ pid, group: pid }]) {
      if (!this.#ownSession || entry.group !== pid) kill(entry.pid, signal);
    }
  }

  /** Ends all processes: SIGTERM, and SIGKILL after the grace. Resolves when none runs any more. */
  async end(graceMs: number): Promise<void> {
    const since = performance.now();
    this.signal('SIGTERM');
    // A stopped process would not see it before it resumes.
    this.signal('SIGCONT');
    while (this.#runs()) {
      if (performance.now() - since >= graceMs) this.signal('SIGKILL');
      await sleep(LOOK_MS);
    }
    await this.ended;
  }

  #runs(): boolean {
    const running = this.#offspring();
    if (running) return running.length > 0;
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
}

export interface CommandEnding {
  readonly status: number;
  readonly signal: NodeJS.Signals | null;
}

/** Signals by which programs talk rather than end. */
const TALK: ReadonlySet<NodeJS.Signals> = new Set(['SIGUSR1', 'SIGUSR2', 'SIGWINCH']);

export function onTerminal(): boolean {
  return [0, 1, 2].some((file) => isatty(file));
}

/** 128 and the number of the signal, as in shells. */
export function endingOf(code: number | null, signal: NodeJS.Signals | null): CommandEnding {
  return { status: signal ? 128 + constants.signals[signal] : (code ?? STATUS.bug), signal };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or belongs to another user by now (a set-user-id program).
  }
}

function notStarted(file: string, cause: unknown): ExitError {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT') {
    return new ExitError(STATUS.notFound, `Command not found: ${quote(file)}.`, { cause });
  }
  const why = code === 'EACCES' ? 'permission denied' : (cause as Error).message;
  const message = `Command cannot be run: ${quote(file)}: ${why}.`;
  return new ExitError(STATUS.notExecutable, message, { cause });
}
