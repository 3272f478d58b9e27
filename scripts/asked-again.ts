/**
 * Which tests passed only when they were asked again, in the last runs on this machine: one that
 * does so now and again waits for less than it relies on, or has found something. It is kept for
 * the user and not for the checkout, whose `node_modules` goes with every `npm ci`; tests are named
 * from the root, so that all checkouts add to it.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** More failures than this are no accident, however loaded the machine is. */
export const MOST_ASKED_AGAIN = 5;

/** So many runs of each step are remembered. */
const RUNS = 5;

/** In so many of them a test may pass only when asked again. */
const FORGIVEN = 1;

/** By the step, the latest run last: the tests that had to be asked again to pass. */
type Runs = Readonly<Record<string, readonly (readonly string[])[]>>;

export const ASKED_AGAIN: string = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'holdfast/asked-again.json',
);

/** Adds a run of this step to the file; returns what fails because it was asked again too often. */
export function askedTooOften(
  file: string,
  step: string,
  asked: readonly string[],
): readonly string[] {
  return [...remember(file, step, asked)].map(
    ([test, times]) => `${test} (passed only when asked again, in ${times} of its last 5 runs)`,
  );
}

/** Adds a run of this step to the file; returns what was asked again too often, and how often. */
export function remember(
  file: string,
  step: string,
  asked: readonly string[],
): ReadonlyMap<string, number> {
  const before = read(file);
  const runs = [...(before[step] ?? []), asked].slice(-RUNS);
  write(file, { ...before, [step]: runs });
  const times = (test: string): number => runs.filter((run) => run.includes(test)).length;
  const counted = asked.map((test) => [test, times(test)] as const);
  return new Map(counted.filter(([, count]) => count > FORGIVEN));
}

function read(file: string): Runs {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** At once, for another run may be reading it. Without it, the tests are still those they are. */
function write(file: string, runs: Runs): void {
  const draft = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, `${JSON.stringify(runs, null, 2)}\n`);
    renameSync(draft, file);
  } catch (error) {
    console.log(`What was asked again is not remembered: ${(error as Error).message}`);
  }
}
