/**
 * What runs when, on one list for each occasion. `QUICK` is `npm test`: it fetches nothing. `CI` is
 * what `.ci/run` has beside it: what the change meets, and a share of the rest, which goes round
 * from run to run. `BATTERY` is everything; what leaves it is named in CHANGELOG.md.
 */
import { built as builtInGo } from '../test/methods/sharing/go.ts';
import { withGo } from '../test/servers/go-build.ts';
import { buildKubeApiserver } from '../test/servers/kubernetes-program.ts';
import { setup as fetchPrograms } from '../test/servers/programs.ts';
import { RUN, turnOf } from '../test/support/this-run.ts';
import { chosen, touched } from './changed.ts';
import { once, program, type Step, script } from './steps.ts';
import { tests } from './vitest-step.ts';

/** Each world is another one in each run. */
const SEED = String(RUN * 1000 + 1);

/** One file for each promise that only several processes can break; half of them in each run. */
const FEW = [
  ...['contention', 'signals', 'rolling-deploy'].map((name) => `test/methods/processes/${name}.`),
  ...['run', 'once', 'loss', 'signals', 'top'].map((name) => `test/cli/${name}.`),
];

/** What they keep behind is much the same on each. */
const LEAKS = ['memory', 'postgres', 'redis', 'sqlite'].map((on) => `test/methods/leaks/${on}.`);

const format = program('format', 10, 'biome ci --error-on-warnings .');
const worlds = (runs: number, seconds: number, seed = SEED): Step =>
  script('simulation', seconds, `scripts/sim.ts --runs ${runs} --seed ${seed}`);
/** The compiler of TypeScript itself judges. */
const types = script('types', 90, 'scripts/types.ts --tsc');
const documentation = script('documentation', 60, 'scripts/docs.ts');
const models = program('models', 60, 'vitest run --project models');
/** They keep the machine so busy that leases beside them would have to be three times as long. */
const histories = (operations: string, seed = SEED): Step => {
  const command = `test/methods/histories/run.ts --operations ${operations} --seed ${seed}`;
  return { ...script('histories', 0.016 * Number(operations), command), beside: false };
};
/** Leases of its cases in Jest last three seconds: it counts on the clock. */
const wholePackage: Step = {
  ...script('package', 90, 'scripts/package.ts --whole'),
  beside: false,
};

export const QUICK: readonly Step[] = [
  tests('units', 40),
  tests('conformance', 15),
  tests('processes', 20, async () => turnOf(FEW, 4)),
  script('types', 25, 'scripts/types.ts'),
  script('package', 20, 'scripts/package.ts'),
  worlds(500, 7),
];

/** Makes what other steps need, while those run that do without. */
const making = (name: string, seconds: number, make: () => Promise<unknown>): Step => ({
  ...{ name, seconds, beside: true },
  run: () => make().then(() => ({ passed: 1, failed: [], skipped: [] })),
});

/** What Debian's packages have. */
const fetchOnce = once(fetchPrograms);

/** What the tests on Kubernetes need: once for a machine, in minutes. */
const buildOnce = once(() =>
  withGo(async (place) => {
    await buildKubeApiserver(place);
    // The program beside it is made of much the same.
    await builtInGo('kubernetes', place);
  }).catch(({ message }: Error) => {
    console.log(`no API server of Kubernetes: ${message.split('\n', 1)}`);
  }),
);

/** These files, once the server is there if there are any. */
async function withApiServer(files: readonly string[]): Promise<readonly string[]> {
  if (files.length > 0) await buildOnce();
  return files;
}

const onKubernetes = async (): Promise<readonly string[]> =>
  withApiServer(await touched('kubernetes'));

export const CI: readonly Step[] = [
  wholePackage,
  tests('processes', 60),
  tests('examples', 60),
  // The first one that starts any of the programs.
  tests('leaks', 100, () => fetchOnce().then(() => turnOf(LEAKS, 2))),
  tests('commands', 35),
  tests('servers', 600, () => chosen('servers')),
  tests('sharing', 250, () => chosen('sharing')),
  tests('kubernetes', 0, onKubernetes),
  making('programs', 150, fetchOnce),
  making('API server', 0, onKubernetes),
  types,
  format,
  documentation,
  worlds(2000, 30),
];

export interface Proof {
  readonly step: Step;
  /** What is tried, in a few words. */
  readonly what: string;
  /** The file to read first. */
  readonly from: string;
}

export const BATTERY: readonly Proof[] = [
  {
    step: tests('units', 60),
    what: 'each room by itself, random loops whole',
    from: 'test/methods/differential/world.ts',
  },
  {
    step: tests('conformance', 60),
    what: 'the suite on stores without a server, all seeds, shelves and kinds',
    from: 'src/testkit/conformance.ts',
  },
  {
    step: tests('real clock', 60),
    what: 'the suite on SQLite on a real clock',
    from: 'test/methods/conformance/real/sqlite.test.ts',
  },
  {
    step: tests('processes', 90),
    what: 'processes that are killed, stopped and deployed; the command line',
    from: 'test/methods/processes/contention.test.ts',
  },
  {
    step: tests('examples', 90),
    what: 'examples of several processes',
    from: 'test/examples/stories.test.ts',
  },
  {
    step: tests('leaks', 170),
    what: 'rounds of each public call, and what they leave behind',
    from: 'test/methods/leaks/leaks.ts',
  },
  {
    step: tests('commands', 35),
    what: 'the command line on servers, shells, a browser',
    from: 'test/cli/servers/postgres.test.ts',
  },
  {
    step: tests('servers', 1300),
    what: 'every store, client, version and topology on real servers, under faults',
    from: 'test/methods/faults/scene.ts',
  },
  {
    step: tests('sharing', 560),
    what: 'locks shared with programs in Java, Go and Python',
    from: 'test/methods/sharing/pair-suite.ts',
  },
  {
    step: { ...script('teeth', 320, 'scripts/teeth.ts'), beside: false },
    what: 'planted faults, each against the test that notices it',
    from: 'test/methods/teeth/catalogue.ts',
  },
  {
    step: tests('kubernetes', 60, () => withApiServer(['test/'])),
    what: 'Leases and documents on an API server of Kubernetes',
    from: 'test/stores/kubernetes/conformance.test.ts',
  },
  {
    step: wholePackage,
    what: 'the tarball, in every style, on every runtime',
    from: 'test/package/program.ts',
  },
  {
    step: histories(process.env.HOLDFAST_OPERATIONS ?? '100000'),
    what: 'histories of every store, under kills and stops, judged by two checkers',
    from: 'test/methods/histories/run.ts',
  },
  {
    step: making('API server', 500, buildOnce),
    what: 'the API server is built',
    from: 'test/servers/kubernetes-program.ts',
  },
  {
    step: types,
    what: 'types of the project, the snippets of its pages, decorators, the page',
    from: 'scripts/types.ts',
  },
  { step: format, what: 'form', from: 'biome.json' },
  { step: documentation, what: 'the site of the pages, and its links', from: 'scripts/docs.ts' },
  {
    step: models,
    what: 'every state of the models of a quorum, and each rule broken',
    from: 'test/methods/models/quorum.test.ts',
  },
  {
    step: worlds(10_000, 150),
    what: 'simulated worlds under every fault',
    from: 'test/methods/simulation/world.ts',
  },
  {
    step: { ...script('mutation', 4100, 'scripts/mutation.ts'), beside: false },
    what: 'one small change after another in the rooms that know no server',
    from: 'scripts/mutation.ts',
  },
];

/** Histories and worlds again, others each time, for so many hours. */
export function soak(hours: number): Step {
  return {
    ...{ name: 'soak', seconds: hours * 3600 },
    async run(tell) {
      const end = performance.now() + hours * 3_600_000;
      let rounds = 0;
      for (; performance.now() < end; rounds += 1) {
        const seed = String((RUN + rounds + 1) * 1000);
        await histories('10000', seed).run(tell, false);
        await worlds(10_000, 150, seed).run(tell, false);
      }
      const each = 'histories of 10,000 operations (of slow stores a fifth) and 10,000 worlds';
      const said = `${rounds} rounds of ${each}, all legal`;
      return { passed: rounds, failed: [], skipped: [], said };
    },
  };
}
