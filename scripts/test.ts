/**
 * `npm test`: what needs nothing but `npm ci`, in two minutes. `npm run test:ci`: what continuous
 * integration has beside it. `npm run battery`: everything; it also writes what ran, when, and how
 * it ended, and docs/reference/evidence.md from that. With `--hours N` it goes on for so long, with
 * `--operations N` its histories have so many of each store, of slow ones a fifth, not 100,000.
 * Arguments choose steps by the beginning of their names. With CI=true, a skipped test is a
 * failure, unless what it would have tested is not promised.
 */
import { readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serverFolder } from '../test/servers/server-process.ts';
import type { Step } from './steps.ts';

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ ci: { type: 'boolean' }, battery: { type: 'boolean' } },
    ...{ hours: { type: 'string' }, operations: { type: 'string' } },
  },
});
const env = process.env;
env.HOLDFAST_RUN ??= String(Math.floor(Date.now() / 60_000) % 1_000_000);
if (values.battery) env.HOLDFAST_WHOLE = '1';
if (values.operations) env.HOLDFAST_OPERATIONS = values.operations;
// What a step is cut short in removes nothing; so all of it goes at the end.
// Servers that refuse root have to pass it, too.
const temporary = serverFolder(join(quickDisk(), 'holdfast-run-'));
env.TMPDIR = temporary;
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));

// Only now, for they read the environment.
const { BATTERY, CI, QUICK, soak } = await import('./lists.ts');
const { runSteps, summarize } = await import('./run-steps.ts');
const { writeEvidence } = await import('./evidence.ts');

/**
 * In memory, where there is much of it: a disk that others write to holds up a commit for longer
 * than a lease. What a server has written outlives its process there, too.
 */
function quickDisk(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    const mounts = readFileSync('/proc/mounts', 'utf8');
    if (bavail * bsize > 8e9 && !/ \/dev\/shm .*noexec/.test(mounts)) return '/dev/shm';
  } catch {
    // There is no such folder here.
  }
  return tmpdir();
}

const isChosen = ({ name }: Step): boolean =>
  names.length === 0 || names.some((start) => name.startsWith(start));
const hours = Number(values.hours ?? 0);
const list = values.battery
  ? [...BATTERY.map(({ step }) => step), ...(hours > 0 ? [soak(hours)] : [])]
  : values.ci
    ? CI
    : QUICK;
const steps = list.filter(isChosen);
if (steps.length === 0) {
  const known = list.map(({ name }) => name);
  throw new Error(`None of these begins with ${names.join(' or ')}: ${known.join(', ')}.`);
}
console.log(
  `Run ${env.HOLDFAST_RUN}: HOLDFAST_RUN=${env.HOLDFAST_RUN} takes the same course again.`,
);
const ended = await runSteps(steps, values.battery ? writeEvidence : undefined);
process.exit(summarize(ended) ? 0 : 1);
