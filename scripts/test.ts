/**
 * `npm test`: everything that this machine can check, in order, cheapest first. Arguments choose
 * steps by the beginning of their names. With CI set, a skipped test is a failure.
 */
import { packageSteps } from './package-steps.ts';
import { program, type Skip, type Step, StepError, type Tally } from './steps.ts';
import { vitestStep } from './vitest-step.ts';

const STEPS: readonly Step[] = [
  program('format', 'biome', 'ci', '--error-on-warnings', '.'),
  program('types', 'tsc'),
  vitestStep('units', 'units'),
  vitestStep('conformance', 'conformance'),
  vitestStep('processes', 'processes'),
  ...packageSteps(),
];

const FAILED: Tally = { passed: 0, failed: 1, skipped: [] };

const good = await runSteps(process.argv.slice(2));
process.exit(good ? 0 : 1);

async function runSteps(chosen: readonly string[]): Promise<boolean> {
  const steps = STEPS.filter(
    ({ name }) => chosen.length === 0 || chosen.some((start) => name.startsWith(start)),
  );
  if (steps.length === 0) throw new Error(`No step begins with ${chosen.join(' or ')}.`);
  const total = { passed: 0, failed: 0, skipped: [] as Skip[] };
  const brokenGroups = new Set<string>();
  for (const step of steps) {
    const tally = await runStep(step, brokenGroups);
    if (tally.failed > 0 && step.group !== undefined) brokenGroups.add(step.group);
    total.passed += tally.passed;
    total.failed += tally.failed;
    total.skipped.push(...tally.skipped);
  }
  return summarize(total);
}

/** Runs one step and prints a line about it, after its complaints if it has any. */
async function runStep(step: Step, brokenGroups: ReadonlySet<string>): Promise<Tally> {
  if (step.group !== undefined && brokenGroups.has(step.group)) {
    console.log(`- ${step.name}: not run, a step before it failed`);
    return FAILED;
  }
  const start = performance.now();
  const seconds = (): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  const stopClock = showClock(step, seconds);
  try {
    const tally = await step.run();
    stopClock();
    console.log(`${tally.failed === 0 ? '✓' : '✗'} ${step.name.padEnd(30)} ${seconds()}`);
    return tally;
  } catch (error) {
    stopClock();
    console.log(error instanceof StepError ? error.message : error);
    console.log(`✗ ${step.name.padEnd(30)} ${seconds()}`);
    return FAILED;
  }
}

/** On a terminal, a silent step shows that it is alive. */
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

/** Prints what was skipped and why, then the totals; answers whether all is well. */
function summarize({ passed, failed, skipped }: Tally): boolean {
  const counts = new Map<string, number>();
  for (const { test, reason = `no reason given: ${test}` } of skipped) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  if (counts.size > 0) console.log('\nSkipped:');
  for (const [reason, count] of counts) console.log(`  ${count} × ${reason}`);
  const unexplained = skipped.some(({ reason }) => reason === undefined);
  const intolerable = skipped.length > 0 && (unexplained || process.env.CI === 'true');
  if (intolerable) console.log('A skip without a reason, and any skip with CI=true, is a failure.');
  const skips = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  console.log(`\n${passed} passed, ${failed} failed${skips}`);
  return failed === 0 && !intolerable;
}
