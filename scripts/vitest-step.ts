/**
 * A project of vitest.config.ts as a step.
 *
 * Invariant: a step passes only if each of its tests has passed, and if nothing was thrown or
 * rejected beside them. A failed test is run again only if it is void: the machine stood still for
 * longer than its leases bear, and it failed by what came too late (test/support/late.ts decides).
 * It runs alone then, and its leases last twice as long each time. Outcomes forgive nothing: a test
 * that fails without such a stall has failed. What would break it: vitest forgets what was thrown
 * outside of tests whenever it runs tests again; so that is collected after each run.
 */
import { createVitest, type Reporter, type TestModule, type Vitest } from 'vitest/node';
import { type Progress, ROOT, type Skip, type Step, StepError, type Tally } from './steps.ts';

/** So often a void test runs again. */
const AGAIN = 3;

/**
 * @param name that of the project, too.
 * @param files parts of paths: a file is run if its path has one of them. Default: all.
 * @param root where the vitest.config.ts is.
 */
export function tests(
  name: string,
  seconds: number,
  files?: () => Promise<readonly string[]>,
  root: string = ROOT,
): Step {
  return {
    name,
    seconds,
    async run(tell) {
      const filters = (await files?.()) ?? [];
      if (files && filters.length === 0) return { passed: 0, failed: [], skipped: [] };
      const reporters = [watcher(tell), 'minimal'];
      const setup = { root, run: true, watch: false, project: [name], reporters };
      // Each step measures the pace anew, unless the whole run has measured it.
      const { HOLDFAST_PACE: given } = process.env;
      const vitest = await createVitest('test', setup);
      try {
        await vitest.start([...filters]);
        if (vitest.state.getTestModules().length === 0) throw new StepError('No test file.');
        return await judge(vitest, name);
      } finally {
        await vitest.close();
        if (given === undefined) delete process.env.HOLDFAST_PACE;
      }
    },
  };
}

/** A file counts as done when it is, its tests as failed as soon as they have; then says why. */
function watcher(tell: (progress: Progress) => void): Reporter {
  const now = { done: 0, all: 0, failed: 0 };
  const change = (part: Partial<typeof now>): void => tell(Object.assign(now, part));
  return {
    onTestRunStart: (specifications) => change({ done: 0, all: specifications.length }),
    onTestModuleEnd: () => change({ done: now.done + 1 }),
    onTestCaseResult: (test) => {
      const { state, errors } = test.result();
      if (state !== 'failed') return;
      console.log(`✗ ${test.fullName}: ${errors?.[0]?.stack ?? errors?.[0]?.message}`);
      change({ failed: now.failed + 1 });
    },
  };
}

async function judge(vitest: Vitest, name: string): Promise<Tally> {
  const modules = vitest.state.getTestModules();
  const found = tallyOf(modules, vitest.state.getUnhandledErrors());
  const files = modules.map((each) => {
    return [each.relativeModuleId, each.diagnostic().duration] as const;
  });
  const pace = Number(process.env.HOLDFAST_PACE ?? 1);
  for (let i = 1; i <= AGAIN && found.stoodStill.size > 0; i += 1) {
    process.env.HOLDFAST_PACE = String(pace * 2 ** i);
    await runAgain(vitest, found);
  }
  process.env.HOLDFAST_PACE = String(pace);
  const { passed, failed, skipped, stoodStill, stray } = found;
  for (const [test, { ms }] of stoodStill) {
    failed.push(`${test} (void: this machine stood still for ${Math.round(ms)} ms)`);
  }
  failed.push(...stray.map((each) => `${name}: an error in no test: ${each}`));
  return { passed, failed, skipped, files };
}

interface Void {
  readonly module: TestModule;
  /** Of the test; undefined: a hook of the file failed, and all of it runs again. */
  readonly id: string | undefined;
  readonly ms: number;
}

interface Found {
  passed: number;
  failed: string[];
  skipped: Skip[];
  /** What is void, by name. */
  stoodStill: Map<string, Void>;
  /** What was thrown or rejected in no test. */
  stray: string[];
}

/** Runs what is void, and adds what comes of it; what was skipped is known. */
async function runAgain(vitest: Vitest, found: Found): Promise<void> {
  const voids = found.stoodStill;
  found.stoodStill = new Map();
  for (const [name, { module, id, ms }] of voids) {
    console.log(`void, and run again: ${name}: this machine stood still for ${Math.round(ms)} ms`);
    const which = id === undefined ? undefined : { testIds: [id] };
    const alone = module.project.createSpecification(module.moduleId, which);
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([alone]);
    const own = testModules.filter(({ moduleId }) => moduleId === module.moduleId);
    const again = tallyOf(own, unhandledErrors);
    found.passed += again.passed;
    found.failed.push(...again.failed);
    found.stray.push(...again.stray);
    for (const each of again.stoodStill) found.stoodStill.set(...each);
  }
}

/** @param errors thrown or rejected in no test. */
function tallyOf(modules: readonly TestModule[], errors: readonly unknown[]): Found {
  const stray = errors.map((error) => (error as Partial<Error>)?.message ?? String(error));
  const found: Found = { passed: 0, failed: [], skipped: [], stoodStill: new Map(), stray };
  for (const module of modules) {
    let explained = false;
    const fail = (name: string, id: string | undefined, ms: number | undefined): void => {
      explained = true;
      if (ms === undefined) found.failed.push(name);
      else found.stoodStill.set(name, { module, id, ms });
    };
    for (const test of module.children.allTests()) {
      const name = `${module.relativeModuleId} > ${test.fullName}`;
      const result = test.result();
      if (result.state === 'passed') found.passed += 1;
      else if (result.state === 'skipped') found.skipped.push({ test: name, reason: result.note });
      else fail(name, test.id, test.meta().void?.stoodStillMs);
    }
    // A file that cannot be loaded, and a hook that fails, have no failing test.
    if (module.ok() || explained) continue;
    const stalls = [module, ...module.children.allSuites()].map((each) => each.meta().void);
    fail(module.relativeModuleId, undefined, stalls.find((each) => each)?.stoodStillMs);
  }
  return found;
}
