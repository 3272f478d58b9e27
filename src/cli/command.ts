/**
 * The command that runs under a lock, and everything that it starts.
 *
 * Invariant: `run` ends only when the command has ended, and after a lost lease only when nothing
 * of it runs any more. The work may be done by a grandchild, which a signal to the command alone
 * would leave behind; so what asks it to end (TERM, INT, HUP, QUIT) goes to all of it. By other
 * signals (USR1, USR2, WINCH) programs talk; they would kill whoever does not expect them.
 *
 * Without a terminal the command gets a session and a process group of its own (`detached`). One
 * system call then reaches all of it at one moment, however quickly it forks, and nobody else. A
 * terminal would be out of its reach: ^C comes to the foreground group, which is ours, /dev/tty
 * cannot be opened, and Node cannot hand the terminal over (it has no tcsetpgrp). So if one of the
 * first three files is a terminal, the command stays in our group. It may read and write there, the
 * keyboard's signals come to it from the terminal, and the shell stops and resumes both of us. But
 * the group is shared with the rest of a pipeline, so those of the command are looked up, by their
 * descent and by the token in their environment, and signalled one by one until none is left.
 *
 * What breaks it: SIGKILL of this process, after which the command runs on without a lock and only
 * a fence protects. What leaves the session and loses its parents is a daemon, and not ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { ExitError, STATUS } from './process/exit-status.ts';
import { Offspring } from './process/processes.ts';
import { quote } from './text.ts';

/** How often a command that is being ended is looked at, in ms: a person sees no difference. */
const LOOK_MS = 50;

export class Command {
  /** Resolves with the status as shells have it, and the signal that ended it, if one did. */
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  readonly #ownSession: boolean;
  readonly #offspring: Offspring;

  private constructor(child: ChildProcess, ownSession: boolean, environment: readonly string[]) {
    this.#child = child;
    this.#ownSession = ownSession;
    const pid = child.pid as number;
    const session = ownSession ? pid : undefined;
    this.#offspring = new Offspring({ pid, session, environment });
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

  /** To all of the command. */
  signal(signal: NodeJS.Signals): void {
    const pid = this.#child.pid as number;
    if (this.#ownSession) kill(-pid, signal);
    for (const entry of this.#offspring.running() ?? [{ pid, group: pid }]) {
      if (!this.#ownSession || entry.group !== pid) kill(entry.pid, signal);
    }
  }

  /** Ends all of it: SIGTERM, and SIGKILL after the grace. Resolves when nothing runs any more. */
  async end(graceMs: number): Promise<void> {
    const since = performance.now();
    this.signal('SIGTERM');
    // What is stopped would not see it before it is resumed.
    this.signal('SIGCONT');
    while (this.#runs()) {
      if (performance.now() - since >= graceMs) this.signal('SIGKILL');
      await sleep(LOOK_MS);
    }
    await this.ended;
  }

  #runs(): boolean {
    const running = this.#offspring.running();
    if (running) return running.length > 0;
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
}

export interface Ending {
  readonly status: number;
  readonly signal: NodeJS.Signals | null;
}

/** Signals by which programs talk, rather than end. */
const TALK: ReadonlySet<NodeJS.Signals> = new Set(['SIGUSR1', 'SIGUSR2', 'SIGWINCH']);

export function onTerminal(): boolean {
  return [0, 1, 2].some((file) => isatty(file));
}

/** 128 and the number of the signal, as shells say it. */
export function endingOf(code: number | null, signal: NodeJS.Signals | null): Ending {
  return { status: signal ? 128 + constants.signals[signal] : (code ?? STATUS.bug), signal };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or belongs to somebody else by now (a set-user-id program).
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
