/**
 * A server's process, in a folder of its own. It ends with this process: if that is killed, the
 * kernel kills the server on Linux; elsewhere only an orderly end takes it along.
 *
 * Servers of databases refuse to run as root. If root runs the tests they run as nobody, who may
 * here read and write what root could: programs may lie in a folder that only root can enter. Their
 * data may not: MariaDB's access() is refused there all the same, and a crash takes its routines.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../support/until.ts';
import { giveBack } from './ports.ts';
import { alive, childrenOf, halt, signal } from './process-table.ts';
import type { Command } from './programs.ts';

const NOBODY = 65_534;
const AS_ROOT = process.getuid?.() === 0;
const AS_NOBODY = [
  ...[`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
  ...['--inh-caps=+dac_override', '--ambient-caps=+dac_override'],
];

const open = new Set<LocalServer>();
process.once('exit', () => {
  for (const server of open) server.closeNow();
});

/** Runs a program as the server of a database runs, to its end. */
export async function runToEnd(
  command: readonly string[],
  { env = process.env, input = '' }: { env?: NodeJS.ProcessEnv; input?: string } = {},
): Promise<void> {
  const [program = '', ...args] = mortal(command, true);
  const running = promisify(execFile)(program, args, { env });
  // If it does not read all of it, its failure says why.
  running.child.stdin?.on('error', () => {}).end(input);
  await running;
}

/** A new folder that the server of a database may write to. */
export function serverFolder(prefix: string): string {
  const folder = mkdtempSync(prefix);
  if (AS_ROOT) chownSync(folder, NOBODY, NOBODY);
  return folder;
}

/** What starts a server, and where. */
interface ServerTerms {
  /** Of its folder. */
  readonly name: string;
  readonly program: Command;
  /** Where it listens, to be given back at its end; the first one is that of its clients. */
  readonly ports: readonly number[];
  /** Added to its environment. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Default: false. */
  readonly refusesRoot?: boolean;
  /** Removes what a server that was killed leaves elsewhere, before its folder goes. */
  readonly clearUp?: (folder: string) => void;
}

/** A server on loopback, whatever it speaks. */
export abstract class LocalServer {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly folder: string;
  protected readonly program: Command;
  protected readonly ports: readonly number[];
  protected readonly env: NodeJS.ProcessEnv;
  readonly #refusesRoot: boolean;
  readonly #clearUp: ServerTerms['clearUp'];
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  /** Its folder is there from now on; the process is not. */
  constructor({ name, program, ports, env, refusesRoot = false, clearUp }: ServerTerms) {
    const prefix = join(tmpdir(), `holdfast-${name}-`);
    this.folder = refusesRoot ? serverFolder(prefix) : mkdtempSync(prefix);
    this.program = program;
    this.ports = ports;
    this.port = ports[0] ?? 0;
    this.env = { ...process.env, ...env };
    this.#refusesRoot = refusesRoot;
    this.#clearUp = clearUp;
    open.add(this);
  }

  /** Of its program. */
  protected abstract readonly args: readonly string[];

  /** Whether it serves; what this throws counts as no. */
  protected abstract answers(): Promise<boolean>;

  get url(): string {
    return `http://${this.host}:${this.port}`;
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error('the server is not running');
    return this.#child.pid;
  }

  /** What it has said, from its first start on. */
  get log(): string {
    try {
      return readFileSync(join(this.folder, 'log'), 'utf8');
    } catch {
      return '';
    }
  }

  /** Starts it on the same ports, with the data that it left, and waits until it answers. */
  async start(): Promise<void> {
    if (this.running) throw new Error('the server is running');
    const [program = '', ...args] = mortal([...this.program, ...this.args], this.#refusesRoot);
    const log = openSync(join(this.folder, 'log'), 'a');
    // What it writes beside its data is in its folder too.
    const options = { cwd: this.folder, env: this.env };
    const child = spawn(program, args, { ...options, stdio: ['ignore', log, log] });
    closeSync(log);
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        if (this.#child === child) this.#child = undefined;
        resolve();
      };
      child.once('exit', end);
      child.once('error', end);
    });
    const ended = (): string | undefined => (this.#child === child ? undefined : this.log);
    await until('did the server answer', () => this.answers(), ended);
  }

  /** Asks it to end, as an administrator does, and waits until it has. */
  async stop(by: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#child?.kill(by);
    await this.#ended;
  }

  /** Kills it and its children at once, as a crash of the whole machine does. */
  async kill(): Promise<void> {
    const children = this.#killNow();
    await this.#ended;
    await until('ended', async () => !children.some(alive));
  }

  /** It and its children stand still: connections stay open and nothing is answered. */
  pause(): void {
    // Itself first: one that stands still has no more children.
    halt(this.pid);
    halt(...childrenOf(this.pid));
  }

  resume(): void {
    for (const child of childrenOf(this.pid)) signal(child, 'SIGCONT');
    signal(this.pid, 'SIGCONT');
  }

  /** Kills it and starts it again. What it keeps when it is killed is there. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Ends it and removes its folder. */
  async close(): Promise<void> {
    await this.kill();
    this.closeNow();
    for (const port of this.ports) giveBack(port);
  }

  /** The same for one who cannot wait. */
  closeNow(): void {
    this.#killNow();
    this.#clearUp?.(this.folder);
    rmSync(this.folder, { recursive: true, force: true });
    open.delete(this);
  }

  #killNow(): number[] {
    if (!this.running) return [];
    // It has next to no time for more children. To wait for that would hold up all other tests.
    signal(this.pid, 'SIGSTOP');
    const children = childrenOf(this.pid);
    for (const pid of [this.pid, ...children]) signal(pid, 'SIGKILL');
    return children;
  }
}

/** Begins with it, and closes it if that fails. */
export async function started<T extends { close(): Promise<unknown> }>(
  server: T,
  begin: () => Promise<unknown>,
): Promise<T> {
  try {
    await begin();
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** The command with which it ends with this process, and is not root if it refuses to be. */
function mortal(command: readonly string[], refusesRoot: boolean): readonly string[] {
  if (process.platform !== 'linux') return command;
  const user = AS_ROOT && refusesRoot ? AS_NOBODY : [];
  return ['setpriv', '--pdeathsig', 'KILL', ...user, '--', ...command];
}
