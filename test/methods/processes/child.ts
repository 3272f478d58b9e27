import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { halt } from '../../servers/process-table.ts';
import { directory } from '../../support/directory.ts';
import { programOf } from '../../support/program-of.ts';
import { until } from '../../support/until.ts';

/** A real process that runs a script of `children/` and is killed at the end of the test. */
export class Child {
  readonly process: ChildProcess;
  readonly #heard: { readonly type?: string }[] = [];
  #errors = '';

  constructor(script: string, options: object) {
    const { file, execArgv } = programOf(`test/methods/processes/children/${script}.ts`);
    this.process = fork(file, [JSON.stringify(options)], {
      execArgv,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.process.stderr?.on('data', (text) => (this.#errors += String(text)));
    this.process.on('message', (message) => this.#heard.push(message as object));
    onTestFinished(async () => {
      this.process.kill('SIGKILL');
      await this.exited();
    });
  }

  get pid(): number {
    return this.process.pid as number;
  }

  tell(message: object): void {
    this.process.send(message);
  }

  kill(signal: NodeJS.Signals): void {
    if (signal === 'SIGSTOP') halt(this.pid);
    else this.process.kill(signal);
  }

  /** All messages of this type so far. */
  heard<T>(type: string): T[] {
    return this.#heard.filter((message) => message.type === type) as T[];
  }

  /** Waits for the message of this type that comes after so many others, by default the first. */
  async next<T>(type: string, after = 0): Promise<T> {
    await until(
      `did the child say ${type}`,
      () => this.heard(type).length > after,
      // What it said last may come after its end.
      () => (this.#ended && !this.process.connected ? `it ended: ${this.#errors}` : undefined),
    );
    return this.heard<T>(type)[after] as T;
  }

  exited(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.process.once('exit', () => resolve()));
  }

  get #ended(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }
}

/** A database file that goes with the test. */
export function databaseFile(): string {
  return join(directory(), 'locks.db');
}
