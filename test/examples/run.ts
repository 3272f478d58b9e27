/** Runs an example as its reader would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { directory } from '../support/directory.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const EXAMPLES: string = join(ROOT, 'examples');

export type Ended = { readonly code: number | null; readonly output: string };

export interface Started {
  readonly child: ChildProcess;
  /** What it has printed so far, in both streams. */
  output(): string;
  readonly ended: Promise<Ended>;
  /** What the library and its examples have left in the temporary folder. */
  leftBehind(): string[];
}

/** What `npm run example -- …` runs, with a temporary folder of its own, until the test ends. */
export function start(...args: string[]): Started {
  const temporary = directory();
  const flags = ['--disable-warning=ExperimentalWarning', '--import', './scripts/sources.mjs'];
  const env = { ...process.env, TMPDIR: temporary, TEMP: temporary };
  const child = spawn(process.execPath, [...flags, 'examples/run.ts', ...args], { cwd: ROOT, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }));
  const leftBehind = (): string[] =>
    readdirSync(temporary).filter((name) => name.startsWith('holdfast'));
  return { child, output: () => output, ended, leftBehind };
}

/** What it prints, if it ends well and leaves nothing behind. */
export async function outputOf(...args: string[]): Promise<string> {
  const { ended, leftBehind } = start(...args);
  const { code, output } = await ended;
  expect(code, output).toBe(0);
  expect(leftBehind()).toEqual([]);
  return output;
}
