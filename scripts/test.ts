/**
 * `npm test`: what needs nothing but `npm ci`, in a few minutes. `npm run test:all`: everything, on
 * real servers and other runtimes, which are fetched; with `--beside`, what `npm test` has not just
 * done. Cheapest first; arguments choose steps by the beginning of their names. With CI=true, a
 * skipped test is a failure, unless what it would have tested is not promised.
 */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FAULTS } from '../test/methods/teeth/catalogue.ts';
import { serverFolder } from '../test/servers/server-process.ts';
import { packageSteps } from './package-steps.ts';
import { program, type Skip, type Step, StepError, script, type Tally } from './steps.ts';
import { teethStep } from './teeth-step.ts';
import { timedVitestStep, vitestStep } from './vitest-step.ts';

/** Steps one after the other. */
type Lane = readonly Step[];
/** Lanes at once, where one takes no more than a core; but alone what counts on real clocks. */
type Stage = readonly Lane[];

const units = vitestStep('units');
const cheap = [
  program('format', 'biome', 'ci', '--error-on-warnings', '.'),
  program('types', 'tsc'),
];
const timed: readonly Stage[] = [
  [[timedVitestStep('conformance')]],
  [[timedVitestStep('processes')]],
];

/** A little of what the full run does more of. */
const little: Lane = [
  script('simulation', 'scripts/sim.ts', '--runs', '1000'),
  script('fuzz', 'scripts/fuzz.ts', '--calls', '50000'),
  ...packageSteps({ fetch: false }),
];

const REST: readonly Stage[] = [
  [
    [
      script('simulation', 'scripts/sim.ts', '--runs', '10000'),
      script('fuzz', 'scripts/fuzz.ts', '--calls', '500000'),
      ...packageSteps({ fetch: true }),
    ],
    [vitestStep('leaks'), vitestStep('models')],
    // Only the first time, and everything else goes before it.
    [script('API server', 'scripts/api-server.ts')],
  ],
  [[timedVitestStep('commands')]],
  [[timedVitestStep('servers')]],
  [[teethStep]],
];
const ALL: readonly Stage[] = [[[units], cheap], ...timed, ...REST];
const SHORT: readonly Stage[] = [[[units], [...cheap, ...little]], ...timed];

/** What who has not run it should know. */
const BESIDE = `
npm run test:all has beside this, in about 50 minutes on two cores, fetching what the machine lacks:
  every store on real servers, their faults, and what leaks; the models; ten times the worlds and
  the calls; ${FAULTS.length} planted faults; other versions of Node, Bun, Deno, TypeScript; Jest`;

/** How the conformance suite begins its reason for leaving out what a store does not promise. */
const NOT_PROMISED = 'not promised: ';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean' }, beside: { type: 'boolean' } },
});
// What a step is cut short in removes nothing; so all of it goes at the end.
// Servers that refuse root have to pass it, too.
const temporary = serverFolder(join(tmpdir(), 'holdfast-run-'));
process.env.TMPDIR = temporary;
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));
const full = values.beside ? REST : ALL;
const good = await runStages(values.all ? full : SHORT, positionals);
if (!values.all && positionals.length === 0) console.log(BESIDE);
process.exit(good ? 0 : 1);

interface Total extends Tally {
  passed: number;
  readonly failed: string[];
  readonly onlyAlone: string[];
  readonly skipped: Skip[];
}

async function runStages(all: readonly Stage[], chosen: readonly string[]): Promise<boolean> {
  const isChosen = ({ name }: Step): boolean =>
    chosen.length === 0 || chosen.some((start) => name.startsWith(start));
  const total: Total = { passed: 0, failed: [], onlyAlone: [], skipped: [] };
  let count = 0;
  for (const stage of all) {
    const lanes = stage.map((lane) => lane.filter(isChosen)).filter(({ length }) => length > 0);
    count += lanes.length;
    await Promise.all(lanes.map((lane) => runLane(lane, { alone: lanes.length === 1, total })));
  }
  if (count === 0) {
    const names = all.flat(2).map(({ name }) => name);
    throw new Error(`None of these begins with ${chosen.join(' or ')}: ${names.join(', ')}.`);
  }
  return summarize(total);
}

async function runLane(
  lane: Lane,
  { alone, total }: { readonly alone: boolean; readonly total: Total },
): Promise<void> {
  const brokenGroups = new Set<string>();
  for (const step of lane) {
    const tally = await runStep(step, { alone, brokenGroups });
    if (tally.failed.length > 0 && step.group !== undefined) brokenGroups.add(step.group);
    total.passed += tally.passed;
    total.failed.push(...tally.failed);
    total.onlyAlone.push(...(tally.onlyAlone ?? []));
    total.skipped.push(...tally.skipped);
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

/** Prints what failed, what was skipped and why, then the totals; answers whether all is well. */
function summarize({ passed, failed, onlyAlone = [], skipped }: Tally): boolean {
  const reasons = new Map<string, number>();
  for (const { test, reason = `no reason given: ${test}` } of skipped) {
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  list(
    'Skipped',
    [...reasons].map(([reason, times]) => `${times} × ${reason}`),
  );
  list('Passed only when asked again, with nothing beside it', onlyAlone);
  list('Failed', failed);
  const gaps = skipped.filter(({ reason }) => !reason?.startsWith(NOT_PROMISED));
  const unexplained = gaps.some(({ reason }) => reason === undefined);
  const refused = unexplained || (gaps.length > 0 && process.env.CI === 'true');
  if (refused) console.log('\nSkips need a reason; with CI=true only that of a missing promise.');
  const again = onlyAlone.length > 0 ? ` (${onlyAlone.length} only when asked again)` : '';
  const skips = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  console.log(`\n${passed} passed${again}, ${failed.length} failed${skips}`);
  return failed.length === 0 && !refused;
}

function list(title: string, items: readonly string[]): void {
  if (items.length > 0) console.log(`\n${[`${title}:`, ...items].join('\n  ')}`);
}
