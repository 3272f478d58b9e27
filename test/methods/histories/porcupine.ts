/** A checker that others wrote, porcupine in Go, with models of its own (./porcupine). */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type GoProgram, goProgram } from '../../servers/go-build.ts';
import type { History } from './history.ts';
import type { Operation } from './linearizability.ts';

export const PORCUPINE: GoProgram = {
  name: 'porcupine',
  folder: fileURLToPath(new URL('porcupine/', import.meta.url)),
  files: ['go.mod', 'go.sum', 'main.go', 'lock.go', 'counter.go'],
};

/** After so many steps it says that it does not know: after seconds, rather than never. */
const MOST_STEPS = 1_000_000;

export interface Verdict {
  readonly verdict: 'legal' | 'illegal' | 'unknown';
  readonly operations: number;
  readonly ms: number;
}

export class Porcupine {
  readonly #process: ChildProcess;
  readonly #waiting: { answer(line: string): void; fail(error: Error): void }[] = [];

  /** The first call may build it. Rejects without Go or a network. */
  static async start(mostSteps: number = MOST_STEPS): Promise<Porcupine> {
    return new Porcupine(await goProgram(PORCUPINE), mostSteps);
  }

  private constructor(path: string, mostSteps: number) {
    this.#process = spawn(path, [String(mostSteps)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const answers = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream });
    answers.on('line', (line) => this.#waiting.shift()?.answer(line));
    this.#process.on('close', (code) => {
      for (const { fail } of this.#waiting) fail(new Error(`porcupine ended with ${code}`));
    });
  }

  async judge({ lock, counter }: History): Promise<{ lock: Verdict; counter: Verdict }> {
    const both = [this.#judge('lock', lock), this.#judge('counter', counter)] as const;
    const [locks, counters] = await Promise.all(both);
    return { lock: locks, counter: counters };
  }

  close(): void {
    this.#process.stdin?.end();
  }

  async #judge(
    model: keyof History,
    all: readonly Operation<unknown, unknown>[],
  ): Promise<Verdict> {
    const lines = [...all.map(lineOf), JSON.stringify({ judge: model })];
    const answer = await new Promise<string>((resolve, reject) => {
      this.#waiting.push({ answer: resolve, fail: reject });
      this.#process.stdin?.write(`${lines.join('\n')}\n`);
    });
    const verdict = JSON.parse(answer) as Verdict;
    if (verdict.operations === all.length) return verdict;
    throw new Error(`porcupine has read ${verdict.operations} operations of ${all.length}`);
  }
}

function lineOf(operation: Operation<unknown, unknown>): string {
  const { resource, process, calledAt, returnedAt, input, output } = operation;
  const line = { resource, process, call: calledAt, return: returnedAt, input, output };
  return JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}
