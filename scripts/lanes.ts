/** Runs lanes of steps beside each other, and sums up what they found. */
import { fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { type Skip, type Step, StepError, type Tally } from './steps.ts';

/** Steps one after the other. All that count on real clocks are in one lane. */
export interface Lane {
  readonly steps: readonly Step[];
  /** It has a process of its own, and takes what time of the processors all others leave. */
  readonly givesWay?: boolean;
}

export interface Choice {
  /** Beginnings of the names of steps; none chooses all. */
  readonly names: readonly string[];
  /** This process is that of the lanes that give way, and has nothing to do with the others. */
  readonly givesWay: boolean;
}

export interface Total extends Tally {
  passed: number;
  readonly failed: string[];
  readonly onlyAlone: string[];
  readonly skipped: Skip[];
}

/** @throws Error if no step is chosen. */
export async function runLanes(all: readonly Lane[], choice: Choice): Promise<Total> {
  const { names } = choice;
  const total: Total = { passed: 0, failed: [], onlyAlone: [], skipped: [] };
  const isChosen = ({ name }: Step): boolean =>
    names.length === 0 || names.some((start) => name.startsWith(start));
  const lanes = all
    .map(({ steps, givesWay = false }) => ({ steps: steps.filter(isChosen), givesWay }))
    .filter(({ steps }) => steps.length > 0);
  if (lanes.length === 0) {
    const known = all.flatMap(({ steps }) => steps.map(({ name }) => name));
    throw new Error(`None of these begins with ${names.join(' or ')}: ${known.join(', ')}.`);
  }
  const here = lanes.filter(({ givesWay }) => givesWay === choice.givesWay);
  const elsewhere = lanes.length > here.length && !choice.givesWay;
  await Promise.all([
    ...here.map(({ steps }) => runLane(steps, { alone: lanes.length === 1, total })),
    ...(elsewhere ? [runElsewhere(total)] : []),
  ]);
  return total;
}

/** From now on this process and all that it starts give way; `tell` takes what they found. */
export function giveWay(): (total: Total) => Promise<void> {
  setPriority(constants.priority.PRIORITY_LOW);
  process.once('disconnect', () => process.exit(1));
  return (total) => new Promise((resolve) => process.send?.(total, () => resolve()));
}

/** The lanes that give way, in this program once more. */
async function runElsewhere(total: Total): Promise<void> {
  const [file = '', ...args] = process.argv.slice(1);
  // Not on the terminal, of which the steps beside it have the last lines.
  const child = fork(file, ['--giving-way', ...args], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  child.stdout?.pipe(process.stdout, { end: false });
  child.stderr?.pipe(process.stderr, { end: false });
  const told = await new Promise<Tally>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Tally));
    child.once('exit', () => reject(new StepError('The steps that give way ended early.')));
  }).catch((error: Error): Tally => ({ passed: 0, failed: [error.message], skipped: [] }));
  add(total, told);
}

function add(total: Total, { passed, failed, onlyAlone = [], skipped }: Tally): void {
  total.passed += passed;
  total.failed.push(...failed);
  total.onlyAlone.push(...onlyAlone);
  total.skipped.push(...skipped);
}

async function runLane(
  steps: readonly Step[],
  { alone, total }: { readonly alone: boolean; readonly total: Total },
): Promise<void> {
  const brokenGroups = new Set<string>();
  for (const step of steps) {
    const tally = await runStep(step, { alone, brokenGroups });
    if (tally.failed.length > 0 && step.group !== undefined) brokenGroups.add(step.group);
    add(total, tally);
  }
}

/** Runs one step and prints a line about it, after its complaints if it has any. */
async function runStep(
  step: Step,
  { alone, brokenGroups }: { readonly alone: boolean; readonly brokenGroups: ReadonlySet<string> },
): Promise<Tally> {
  const failed: Tally = { passed: 0, failed: [step.name], skipped: [] };
  if (step.group !== undefined && brokenGroups.has(step.group)) {
    console.log(`- ${step.name}: not run, a step before it failed`);
    return failed;
  }
  const start = performance.now();
  const seconds = (): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  const stopClock = alone ? showClock(step, seconds) : () => {};
  try {
    const tally = await step.run();
    stopClock();
    console.log(`${tally.failed.length === 0 ? '✓' : '✗'} ${step.name.padEnd(30)} ${seconds()}`);
    return tally;
  } catch (error) {
    stopClock();
    console.log(error instanceof StepError ? error.message : error);
    console.log(`✗ ${step.name.padEnd(30)} ${seconds()}`);
    return failed;
  }
}

/** On a terminal, a silent step with none beside it shows that it is alive. */
function showClock(step: Step, seconds: () => string): () => void {
  if (!process.stdout.isTTY || step.live) return () => {};
  const draw = (): void => {
    process.stdout.write(`\r  ${step.name.padEnd(30)} ${seconds()}`);
  };
  draw();
  const timer = setInterval(draw, 100);
  return () => {
    clearInterval(timer);
    process.stdout.write('\r\u001b[K');
  };
}
