import type { ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { textFile } from './scripts/text-files.mjs';
import { HANG_MS } from './test/support/this-run.ts';

type Project = NonNullable<NonNullable<ViteUserConfig['test']>['projects']>[number];

const CONFORMANCE = 'test/methods/conformance/*.test.ts';
/** What a simulated clock leaves out. */
const REAL = 'test/methods/conformance/real/*.test.ts';
const MODELS = 'test/methods/models/**/*.test.ts';
const LEAKS = 'test/methods/leaks/**/*.test.ts';
const COMMANDS = 'test/cli/servers/*.test.ts';
/** What starts processes of ours, which begin from a bundle. */
const PROCESSES = [
  ...['test/{methods/processes,examples}/**/*.test.ts', 'test/cli/*.test.ts'],
  'test/cli/units/{completion,elect}.test.ts',
  'test/stores/sqlite/processes.test.ts',
];
/** Whole stories of several processes. */
const EXAMPLES = 'test/examples/{demo,stories}.test.ts';
const SERVERS = [
  'test/{servers,database-locks,fences/servers,layers/quorum}/**/*.test.ts',
  // What is in `units` needs no server.
  'test/stores/{redis,postgres,mysql,etcd,zookeeper}/{,conformance/}*.test.ts',
  'test/clients/*/*.test.ts',
  'test/stores/{objects,dynamodb,mongodb,consul,table}/*.test.ts',
  'test/interop/*/*.test.ts',
];
/** Virtual machines, and programs in other languages that count as fast as they can. */
const SHARING = [
  'test/{stores,interop}/*/{,plain-}sharing*.test.ts',
  'test/stores/hazelcast/*.test.ts',
  'test/methods/histories/porcupine.test.ts',
];
/** Their server may still be building when all others run. */
const KUBERNETES = 'test/stores/kubernetes/*.test.ts';

/** Fetches the servers that the machine lacks: for the projects that `npm test` does not run. */
const PROGRAMS = 'test/servers/programs.ts';
/** In the others no test finds one, not even one that an earlier run has fetched. */
const WITHOUT_SERVERS = { HOLDFAST_TESTS: 'without servers' };

/** Leases end on real clocks: `test/support/runner.ts` looks whether the machine stands still. */
const REAL_CLOCK = { HOLDFAST_TIMED: '1' };
const PACE = 'test/support/pace.ts';

/** They wait more than they work. A number of their own needs a place in the order. */
const TIMED = { maxWorkers: 3, sequence: { groupOrder: 1 }, env: REAL_CLOCK };
/** The same without servers. */
const TIMED_ALONE = { ...TIMED, env: { ...REAL_CLOCK, ...WITHOUT_SERVERS } };

/**
 * A worker runs file after file with the modules that it has, which two tests load anew; to load them
 * again for each takes a quarter of the time. A third one works while others wait.
 */
const SHARED = { isolate: false, maxWorkers: 3, sequence: { groupOrder: 2 }, env: WITHOUT_SERVERS };

/** They take long and are not large: last, each would run alone. */
const LONG = /\/(pages|processes|elect|histories|contention|deadlocks|faults-sentinel)\.test\.ts$/;

/**
 * Suites, in which many cases run at once, keep the processors busy; the other files mostly wait.
 * So the suites are spread among them.
 */
class Spread extends BaseSequencer {
  override async sort(all: TestSpecification[]): Promise<TestSpecification[]> {
    const isSuite = ({ moduleId }: TestSpecification): boolean => moduleId.includes('conformance');
    const sorted = await super.sort(all);
    const place = new Map<TestSpecification, number>();
    for (const kind of [sorted.filter(isSuite), sorted.filter((each) => !isSuite(each))]) {
      kind.forEach((each, i) => void place.set(each, i / kind.length));
    }
    const placeOf = (each: TestSpecification): number =>
      LONG.test(each.moduleId) ? -1 : (place.get(each) ?? 0);
    return sorted.sort((a, b) => placeOf(a) - placeOf(b));
  }
}

const BUILT = 'test/support/built.ts';

const config: ViteUserConfig = {
  // As the bundler does.
  plugins: [{ name: 'files-as-text', load: textFile }],
  // The `paths` of tsconfig.json: tests import the package by its public names.
  resolve: { tsconfigPaths: true },
  test: {
    // No test fails for lack of time: the runner looks for what hangs.
    runner: './test/support/runner.ts',
    testTimeout: 0,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS, interval: 20 } },
    // Tests hear the warnings that they ask for; nobody has to read them.
    execArgv: ['--no-warnings'],
    maxWorkers: 2,
    maxConcurrency: 20,
    sequence: { sequencer: Spread },
    projects: [
      project('units', {
        ...SHARED,
        include: ['test/**/*.test.ts'],
        exclude: [
          ...[CONFORMANCE, REAL, MODELS, LEAKS, COMMANDS, KUBERNETES],
          ...[...PROCESSES, ...SERVERS, ...SHARING],
        ],
      }),
      project('conformance', { ...SHARED, include: [CONFORMANCE] }),
      project('real clock', { ...TIMED_ALONE, include: [REAL], globalSetup: [PACE] }),
      project('processes', {
        ...{ ...TIMED_ALONE, globalSetup: [BUILT, PACE] },
        ...{ include: PROCESSES, exclude: [EXAMPLES] },
      }),
      project('examples', { ...TIMED_ALONE, include: [EXAMPLES], globalSetup: [PACE] }),
      // The checker takes a whole core: nothing that counts on the clock runs beside it.
      project('models', { include: [MODELS], globalSetup: [PROGRAMS] }),
      project('leaks', { env: REAL_CLOCK, include: [LEAKS], globalSetup: [PROGRAMS, PACE] }),
      project('commands', { ...TIMED, include: [COMMANDS], globalSetup: [BUILT, PROGRAMS, PACE] }),
      project('servers', {
        ...{ ...TIMED, include: SERVERS, exclude: SHARING, globalSetup: [BUILT, PROGRAMS, PACE] },
        // More at once, and cases with short TTLs wait for their turn longer than they live.
        maxConcurrency: 8,
      }),
      project('sharing', {
        ...{ ...TIMED, maxWorkers: 1, include: SHARING, globalSetup: [PROGRAMS, PACE] },
      }),
      project('kubernetes', {
        ...{ ...TIMED, include: [KUBERNETES], globalSetup: [PROGRAMS, PACE] },
        maxConcurrency: 8,
      }),
    ],
  },
};

function project(name: string, test: NonNullable<ViteUserConfig['test']>): Project {
  return { extends: true, test: { name, ...test } };
}

export default config;
