import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** How long a test waits for a message, in ms: starting a process takes a second or two. */
const PATIENCE_MS = 25_000;

/** A real process that runs a script of `children/` and is killed at the end of the test. */
export class Child {
  readonly process: ChildProcess;
  readonly #heard: { readonly type?: string }[] = [];
  readonly #patienceMs: number;
  #errors = '';
  #news: () => void = () => {};

  /** @param patienceMs how long it is waited for a message. */
  constructor(
    script:
      | 'holder'
      | 'contender'
      | 'stormer'
      | 'candidate'
      | 'keeper'
      | 'runner'
      | 'diner'
      | 'seller',
    options: object,
    patienceMs: number = PATIENCE_MS,
  ) {
    this.#patienceMs = patienceMs;
    const path = fileURLToPath(new URL(`children/${script}.ts`, import.meta.url));
    this.process = fork(path, [JSON.stringify(options)], {
      execArgv: ['--import', './scripts/sources.mjs'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.process.stderr?.on('data', (text) => {
      this.#errors += String(text);
    });
    this.process.on('message', (message) => {
      this.#heard.push(message as object);
      this.#news();
    });
    this.process.on('exit', () => this.#news());
    onTestFinished(async () => {
      this.process.kill('SIGKILL');
      await this.exited();
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  tell(message: object): void {
    this.process.send(message);
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  /** All messages of this type so far. */
  heard<T>(type: string): T[] {
    return this.#heard.filter((message) => message.type === type) as T[];
  }

  /** Waits for the first message of this type. */
  async next<T>(type: string): Promise<T> {
    const end = performance.now() + this.#patienceMs;
    for (;;) {
      const [message] = this.heard<T>(type);
      if (message !== undefined) return message;
      const { exitCode, signalCode } = this.process;
      if (exitCode !== null || signalCode !== null || performance.now() > end) {
        const fate = exitCode ?? signalCode ?? 'still running';
        throw new Error(`No ${type} from the child (${fate}): ${this.#errors}`);
      }
      await this.#changed();
    }
  }

  exited(): Promise<void> {
    const { exitCode, signalCode } = this.process;
    if (exitCode !== null || signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => this.process.once('exit', () => resolve()));
  }

  /** Something was heard, or a moment has passed. */
  #changed(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 200);
      this.#news = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** A database file that goes with the test. */
export function databaseFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-processes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return join(folder, 'locks.db');
}
