/** What a run of the tests is made of, and the programs that steps start. */
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
  readonly skipped: readonly Skip[];
  /** How long each of its files took, in ms. */
  readonly files?: readonly (readonly [name: string, ms: number])[];
  /** What it says of itself, in one line. */
  readonly said?: string;
}

/** Told while a step runs, as far as it knows. */
export interface Progress {
  readonly done: number;
  readonly all: number;
  readonly failed: number;
}

export interface Step {
  readonly name: string;
  /** How long it takes on two quiet cores, in s, from which follows how much time is left. */
  readonly seconds: number;
  /** It counts by no clock: it runs beside the others, and gives way to them. */
  readonly beside?: boolean;
  run(tell: (progress: Progress) => void, givesWay: boolean): Promise<Tally>;
}

/** Thrown by a step that fails; `message` is what the developer has to read. */
export class StepError extends Error {}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The system lets it have a processor only while little else wants one. */
  readonly givesWay?: boolean;
  /** Kills it after so long, which fails. Default: never. */
  readonly timeoutMs?: number;
}

/** Runs a program of this project or of the PATH and answers its output; rejects if it fails. */
export async function run(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const polite = options.givesWay && process.platform !== 'win32' ? ['nice', '-n', '10'] : [];
  const [program = '', ...args] = [...polite, ...command];
  const path = [dirname(process.execPath), join(ROOT, 'node_modules/.bin'), process.env.PATH];
  const child = spawn(program, args, {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, PATH: path.join(delimiter), ...options.env },
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  if (ended !== 0) throw new StepError(`${output}\n${command.join(' ')} ended with ${ended}.`);
  return output;
}

/** For all who ask, the same call. */
export function once<T>(act: () => Promise<T>): () => Promise<T> {
  let first: Promise<T> | undefined;
  return () => {
    first ??= act();
    return first;
  };
}

const SUMMARY = /^(\d+) passed, 0 failed/m;
const SKIPPED = /^skipped: (.+?): (.+)$/gm;

/** A step that is one program, which counts by no clock. */
export function program(name: string, seconds: number, command: string): Step {
  return {
    ...{ name, seconds, beside: true },
    run: async (_, givesWay) => tallyIn(await run(command.split(' '), { givesWay })),
  };
}

/**
 * The same of a script of this project, whose last line stands in the evidence. It may sum up what
 * it has done as the whole run does.
 */
export function script(name: string, seconds: number, command: string): Step {
  return {
    ...{ name, seconds, beside: true },
    async run(_, givesWay) {
      const sources = ['node', '--import', './scripts/sources.mjs'];
      const output = await run([...sources, ...command.split(' ')], { givesWay });
      const said = output.trim().split('\n').at(-1);
      return { ...tallyIn(output), ...(said && { said }) };
    },
  };
}

function tallyIn(output: string): Tally {
  const passed = Number(SUMMARY.exec(output)?.[1] ?? 1);
  const skipped = [...output.matchAll(SKIPPED)].map(([, test = '', reason]) => ({ test, reason }));
  return { passed, failed: [], skipped };
}
