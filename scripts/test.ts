/**
 * `npm test`: what needs nothing but `npm ci`, in a few minutes. `npm run test:all`: everything, on
 * real servers and other runtimes, which are fetched; with `--beside`, what `npm test` has not just
 * done. Arguments choose steps by the beginning of their names. With CI=true, a
 * skipped test is a failure, unless what it would have tested is not promised.
 *
 * Steps whose tests count on real clocks mostly wait, and never run at the same time. What works
 * and can wait runs beside them in a process that gives way: the system lets it have a processor
 * only while nothing else wants it. So the clocks of the tests notice little of it.
 */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { built as builtInGo } from '../test/methods/sharing/go.ts';
import { FAULTS } from '../test/methods/teeth/catalogue.ts';
import { withGo } from '../test/servers/go-build.ts';
import { buildKubeApiserver } from '../test/servers/kubernetes-program.ts';
import { serverFolder } from '../test/servers/server-process.ts';
import { giveWay, type Lane, runLanes, type Total } from './lanes.ts';
import { packageSteps } from './package-steps.ts';
import { PASSED, program, type Step, script } from './steps.ts';
import { teethStep } from './teeth-step.ts';
import { timedVitestStep, vitestStep } from './vitest-step.ts';

const cheap: readonly Step[] = [
  program('format', 'biome', 'ci', '--error-on-warnings', '.'),
  script('types', 'scripts/types.ts'),
];
/** Units first, which take a minute of both cores of a small machine. */
const quick: readonly Step[] = [
  vitestStep('units'),
  ...['conformance', 'processes'].map((name) => timedVitestStep(name)),
];

/** A little of what the full run does more of. */
const little: readonly Step[] = [
  script('simulation', 'scripts/sim.ts', '--runs', '1000'),
  script('fuzz', 'scripts/fuzz.ts', '--calls', '50000'),
  ...packageSteps({ fetch: false }),
];

/** Built only once. The tests on it are the last to run, and are skipped without it. */
let built: Promise<void> | undefined;
const apiServer: Step = {
  name: 'API server',
  async run() {
    // The program beside it is made of much the same.
    built = withGo(async (place) => {
      await buildKubeApiserver(place);
      await builtInGo('kubernetes', place);
    }).catch(({ message }: Error) => {
      console.log(`no API server of Kubernetes: ${message.split('\n', 1)}`);
    });
    await built;
    return PASSED;
  },
};
const kubernetes = timedVitestStep('kubernetes');

const long: readonly Step[] = [
  ...packageSteps({ fetch: true }),
  ...['examples', 'leaks', 'commands', 'servers', 'sharing'].map((name) => timedVitestStep(name)),
  teethStep('on real clocks'),
  { ...kubernetes, run: () => Promise.resolve(built).then(kubernetes.run) },
];
const much: readonly Step[] = [
  script('simulation', 'scripts/sim.ts', '--runs', '10000'),
  script('fuzz', 'scripts/fuzz.ts', '--calls', '500000'),
  script('documentation', 'scripts/docs.ts'),
  vitestStep('models'),
  teethStep('on no clock'),
];

const SHORT: readonly Lane[] = [{ steps: quick }, { steps: [...cheap, ...little], givesWay: true }];
const REST: readonly Lane[] = [
  ...[{ steps: long }, { steps: much, givesWay: true }],
  { steps: [apiServer] },
];
const ALL: readonly Lane[] = [
  ...[{ steps: [...quick, ...long] }, { steps: [...cheap, ...much], givesWay: true }],
  { steps: [apiServer] },
];

/** What who has not run it should know. */
const BESIDE = `
npm run test:all has beside this, in some 50 minutes on two cores, fetching what the machine lacks:
  every store on real servers, their faults, and what leaks; the models; the site of the pages;
  examples with several processes; ten times the worlds and the calls; other versions of Node, Bun,
  Deno, TypeScript; Jest; ${FAULTS.length} planted faults`;

/** How the conformance suite begins its reason for leaving out what a store does not promise. */
const NOT_PROMISED = 'not promised: ';

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean' },
    beside: { type: 'boolean' },
    /** For itself. */
    'giving-way': { type: 'boolean', default: false },
  },
});
const givesWay = values['giving-way'];
const tell = givesWay ? giveWay() : undefined;
// What a step is cut short in removes nothing; so all of it goes at the end.
// Servers that refuse root have to pass it, too.
const temporary = serverFolder(join(tmpdir(), 'holdfast-run-'));
process.env.TMPDIR = temporary;
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));
const full = values.beside ? REST : ALL;
const total = await runLanes(values.all ? full : SHORT, { names, givesWay });
if (tell) await tell(total).then(() => process.exit());
const good = summarize(total);
if (!values.all && names.length === 0) console.log(BESIDE);
process.exit(good ? 0 : 1);

/** Prints what failed, what was skipped and why, then the totals; answers whether all is well. */
function summarize({ passed, failed, onlyAlone, skipped }: Total): boolean {
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
