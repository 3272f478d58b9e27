import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

export interface Skip {
  readonly test: string;
  /** Why, and how to run it after all. */
  readonly reason: string | undefined;
}

export interface Tally {
  readonly passed: number;
  /** What failed, by name. */
  readonly failed: readonly string[];
  /** What failed first and passed when it was asked again with nothing beside it. */
  readonly onlyAlone?: readonly string[];
  readonly skipped: readonly Skip[];
}

export interface Step {
  readonly name: string;
  /** Steps of a group build on each other: after a failure the rest of the group is not run. */
  readonly group?: string;
  /** The step prints its own progress. */
  readonly live?: boolean;
  run(): Promise<Tally>;
}

export const PASSED: Tally = { passed: 1, failed: [], skipped: [] };

/** Thrown by a step that fails; `message` is what the developer has to read. */
export class StepError extends Error {}

export interface RunOptions {
  readonly cwd?: string;
  /** Passes the output through while the program runs instead of keeping it. */
  readonly live?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Kills it after so long, which fails. Default: never. */
  readonly timeoutMs?: number;
}

/** Runs a program of this project or of the PATH and answers its output; rejects if it fails. */
export async function run(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const [program = '', ...args] = command;
  const path = [dirname(process.execPath), join(ROOT, 'node_modules/.bin'), process.env.PATH];
  const child = spawn(program, args, {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, PATH: path.join(delimiter), ...options.env },
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL',
    stdio: options.live ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const ended = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  if (ended !== 0) throw new StepError(`${output}\n${command.join(' ')} ended with ${ended}.`);
  return output;
}

/** A step that is one program: it passes if the program does. */
export function program(name: string, ...command: string[]): Step {
  return {
    name,
    async run() {
      await run(command);
      return PASSED;
    },
  };
}

/** The same for a script of this project. */
export function script(name: string, file: string, ...args: string[]): Step {
  return program(name, 'node', '--import', './scripts/sources.mjs', file, ...args);
}
