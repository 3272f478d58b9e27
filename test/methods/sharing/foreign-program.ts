/**
 * A program in another language with a lock library of its own, which does as it is told.
 *
 * Each line that it reads has a number, the name of a thread and the words of a command, with tabs
 * between them. The thread, which is made when it is first named, does one command after the other
 * and writes the number, `ok` or `failed`, and an answer. Every program knows these commands:
 * - `acquire kind name wait lease`: `true` or `false`. `wait` in ms, 0 tries once, -1 has no end;
 *   `lease` in ms, 0 is the library's own with its own renewal.
 * - `release kind name`.
 * - `count kind name file ms`: for so long it acquires, adds one to the number in the file, which
 *   nothing else guards, and releases. Answers how often it did.
 * - `version`: of the library.
 * At the end of its input the program ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { halt } from '../../servers/process-table.ts';

/** How to start it. */
export interface ForeignCommand {
  readonly command: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

interface Asked {
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
}

export class ForeignProgram implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #asked = new Map<number, Asked>();
  #questions = 0;
  #threads = 0;
  /** The end of what it wrote to its standard error. */
  #complaints = '';

  /** Resolves once it answers. */
  static async start({ command, env = {} }: ForeignCommand): Promise<ForeignProgram> {
    const [program = '', ...args] = command;
    const child = spawn(program, args, { stdio: 'pipe', env: { ...process.env, ...env } });
    const started = new ForeignProgram(child, program);
    await started.version();
    return started;
  }

  private constructor(child: ChildProcess, program: string) {
    this.#process = child;
    createInterface({ input: child.stdout! }).on('line', (line) => this.#hear(line));
    child.stdin!.on('error', () => {});
    child.stderr!.on(
      'data',
      (text) => (this.#complaints = `${this.#complaints}${text}`.slice(-2000)),
    );
    const over = (cause?: Error): void => {
      const error = new Error(`${program} is over: ${this.#complaints}`, { cause });
      for (const { reject } of this.#asked.values()) reject(error);
      this.#asked.clear();
    };
    child.once('error', over);
    child.once('exit', () => over());
  }

  version(): Promise<string> {
    return this.#ask('main', 'version');
  }

  /** A thread of its own: in some libraries, it is a thread that holds. */
  thread(): ForeignThread {
    const name = `thread${++this.#threads}`;
    return new ForeignThread((...words) => this.#ask(name, ...words));
  }

  /** It stands still: its connections stay open, and it does nothing. */
  pause(): void {
    halt(this.#process.pid as number);
  }

  resume(): void {
    this.#process.kill('SIGCONT');
  }

  /** As a crash ends it: it gives nothing back. */
  kill(): Promise<void> {
    return this.#end(() => this.#process.kill('SIGKILL'));
  }

  /** It ends by itself. */
  close(): Promise<void> {
    return this.#end(() => this.#process.stdin!.end());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #end(end: () => unknown): Promise<void> {
    const { exitCode, signalCode, pid } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    end();
    await exit;
  }

  #ask(...words: readonly string[]): Promise<string> {
    const number = ++this.#questions;
    return new Promise((resolve, reject) => {
      this.#asked.set(number, { resolve, reject });
      this.#process.stdin!.write(`${[number, ...words].join('\t')}\n`);
    });
  }

  #hear(line: string): void {
    const [number = '', outcome, answer = ''] = line.split('\t');
    const asked = this.#asked.get(Number(number));
    this.#asked.delete(Number(number));
    if (outcome === 'ok') asked?.resolve(answer);
    else asked?.reject(new Error(`The foreign program failed: ${answer}`));
  }
}

/** In ms, as above; default -1 and 0. */
export type Times = { readonly wait?: number; readonly lease?: number };

/** What it is asked while it waits for a lock, it does afterwards. */
export class ForeignThread {
  /** A command of this program alone. */
  readonly ask: (...words: readonly string[]) => Promise<string>;

  constructor(ask: (...words: readonly string[]) => Promise<string>) {
    this.ask = ask;
  }

  async acquire(kind: string, name: string, times: Times = {}): Promise<boolean> {
    const { wait = -1, lease = 0 } = times;
    return (await this.ask('acquire', kind, name, `${wait}`, `${lease}`)) === 'true';
  }

  async release(kind: string, name: string): Promise<void> {
    await this.ask('release', kind, name);
  }

  /** How often it added one to the number in the file. */
  async count(kind: string, name: string, file: string, ms: number): Promise<number> {
    return Number(await this.ask('count', kind, name, file, `${ms}`));
  }
}
