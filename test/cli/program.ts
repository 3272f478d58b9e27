/** Real processes of the command line, on a file that goes with the test. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocks, list } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { expect, onTestFinished, type TestAPI, type TestContext, test } from 'vitest';
import { halt } from '../servers/process-table.ts';
import { directory } from '../support/directory.ts';
import { programOf } from '../support/program-of.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');

const { file, execArgv } = programOf('src/cli/main.ts');
const CLI = [...execArgv, file];

export interface Fate {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** A folder with a lock file, and the programs that use it. */
export class Place {
  readonly folder: string = directory();
  readonly file: string = join(this.folder, 'locks.db');
  readonly env: NodeJS.ProcessEnv = {
    ...without(process.env, ['NODE_OPTIONS', 'FORCE_COLOR', 'NO_COLOR']),
    TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json'),
    HOLDFAST_STORE: `sqlite:${this.file}`,
    TERM: 'xterm',
  };

  path(name: string): string {
    return join(this.folder, name);
  }

  /** What a command of a test has written so far. */
  read(name: string): string {
    try {
      return readFileSync(this.path(name), 'utf8');
    } catch {
      return '';
    }
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }

  write(name: string, text = '', mode = 0o644): void {
    writeFileSync(this.path(name), text, { mode });
  }

  start(args: readonly string[], options: SpawnOptions = {}): Program {
    return new Program(process.execPath, [...CLI, ...args], this.#with(options));
  }

  /** A shell script in which `$holdfast` is the command line. */
  shell(script: string, options: SpawnOptions = {}): Program {
    return new Program('sh', ['-c', script], this.#with(options));
  }

  /** On a terminal: what is written to it comes back as what it shows. */
  terminal(script: string, env: NodeJS.ProcessEnv = {}): Program {
    const given = ['--quiet', '--flush', '--return', '--command', script, '/dev/null'];
    // Whatever shell the user has: dash stays as the parent of its last command, bash does not.
    return new Program('script', given, this.#with({ env: { ...env, SHELL: '/bin/sh' } }));
  }

  fate(...args: string[]): Promise<Fate> {
    return this.start(args, { stdio: ['ignore', 'pipe', 'pipe'] }).fate;
  }

  /** A command that holds a lock until its input ends. */
  async hold(name: string, ...flags: readonly string[]): Promise<Program> {
    const { holders, waiters } = await this.counts();
    const program = this.start(['run', name, ...flags, '--', 'cat']);
    await this.holding(holders + 1, waiters);
    return program;
  }

  /** A command that waits for a lock, once it does. */
  async wait(...args: readonly string[]): Promise<Program> {
    const { holders, waiters } = await this.counts();
    const program = this.start(args);
    await this.holding(holders, waiters + 1);
    return program;
  }

  async tokenOf(name: string, which: 'holders' | 'waiters' = 'holders'): Promise<string> {
    const { out } = await this.fate('show', name, '--json');
    return JSON.parse(out)[which][0].token;
  }

  async evict(name: string, ...flags: readonly string[]): Promise<void> {
    const token = await this.tokenOf(name);
    await this.fate('evict', name, '--token', token, '--reason', 'a test', ...flags);
  }

  /** How many hold and wait, over all names. */
  async counts(): Promise<{ readonly holders: number; readonly waiters: number }> {
    const locks = createLocks(sqliteStore(this.file));
    const counts = { holders: 0, waiters: 0 };
    for await (const name of list(locks)) {
      const queue = await locks.inspect(name);
      counts.holders += queue.holders.length;
      counts.waiters += queue.waiters.length;
    }
    await locks.close();
    return counts;
  }

  async holding(holders: number, waiters: number): Promise<void> {
    await until(async () => {
      const now = await this.counts();
      return now.holders === holders && now.waiters === waiters;
    });
  }

  #with(options: SpawnOptions): SpawnOptions {
    const holdfast = [process.execPath, ...CLI].join(' ');
    return { cwd: this.folder, ...options, env: { ...this.env, holdfast, ...options.env } };
  }
}

interface Places {
  readonly place: Place;
  /** With a file that verbs may look into. */
  readonly used: Place;
}

/** A test that gets a place of its own. */
export const it: TestAPI<Places> = test.extend<Places>({
  place: ({ task: _ }, give) => give(new Place()),
  used: async ({ place }, give) => {
    await place.fate('run', 'a', '--', 'true');
    await give(place);
  },
});

export class Program {
  readonly process: ChildProcess;
  readonly fate: Promise<Fate>;
  out = '';
  err = '';
  #closed = false;

  constructor(file: string, args: readonly string[], options: SpawnOptions) {
    this.process = spawn(file, args, options);
    this.process.stdout?.on('data', (text: Buffer) => (this.out += text));
    this.process.stderr?.on('data', (text: Buffer) => (this.err += text));
    this.fate = new Promise((resolve) => {
      this.process.once('close', (status, signal) => {
        this.#closed = true;
        resolve({ status, signal, out: this.out, err: this.err });
      });
    });
    onTestFinished(() => void this.process.kill('SIGKILL'));
  }

  get pid(): number {
    return this.process.pid as number;
  }

  kill(signal: NodeJS.Signals): void {
    if (signal === 'SIGSTOP') halt(this.pid);
    else this.process.kill(signal);
  }

  saysOnError(text: string): Promise<void> {
    return this.#until(`said ${JSON.stringify(text)} on error`, () => this.err.includes(text));
  }

  type(text: string): void {
    this.process.stdin?.write(text);
  }

  says(text: string): Promise<void> {
    return this.#until(`said ${JSON.stringify(text)}`, () => this.out.includes(text));
  }

  #until(what: string, come: () => boolean): Promise<void> {
    const over = (): string | undefined =>
      this.#closed ? `it ended: ${this.out}\n${this.err}` : undefined;
    return until(what, come, over);
  }
}

/** They end well when their input does. */
export async function letGo(...programs: readonly Program[]): Promise<void> {
  for (const program of programs) program.process.stdin?.end();
  for (const program of programs) expect((await program.fate).status).toBe(0);
}

/** That of util-linux makes a terminal for its command, and passes on what it is told. */
export function needsTerminals({ skip }: Pick<TestContext, 'skip'>): void {
  const script = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '';
  skip(!script.includes('util-linux'), 'needs the program `script` of util-linux');
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function without(env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}
