import { createVitest, type TestModule, type Vitest } from 'vitest/node';
import { type Skip, type Step, StepError, type Tally } from './steps.ts';

/** More failures than run at one moment are no accident. */
const MOST_ASKED_AGAIN = 25;

/** Runs the named project of vitest.config.ts, which has the name of the step. */
export function vitestStep(name: string): Step {
  return { name, live: true, run: () => runProject(name, async (_, tally) => tally) };
}

/**
 * The same for tests whose locks end on real clocks: on a machine that stands still for as long,
 * they fail, and are right to. So when only a few fail, those are asked again, one at a time and
 * with nothing beside them; that they had to be is reported.
 */
export function timedVitestStep(name: string): Step {
  return { name, live: true, run: () => runProject(name, askAgain) };
}

type Judge = (vitest: Vitest, tally: Tally) => Promise<Tally>;

async function runProject(name: string, judge: Judge): Promise<Tally> {
  const vitest = await createVitest('test', { run: true, watch: false, project: [name] });
  await vitest.start();
  const modules = vitest.state.getTestModules();
  const tally = modules.length === 0 ? undefined : await judge(vitest, tallyOf(modules));
  const stray = vitest.state.getUnhandledErrors().map(() => `${name}: an error in no test`);
  await vitest.close();
  if (!tally) throw new StepError('No test file was found.');
  return { ...tally, failed: [...tally.failed, ...stray] };
}

async function askAgain(vitest: Vitest, tally: Tally): Promise<Tally> {
  if (tally.failed.length > MOST_ASKED_AGAIN) return tally;
  let passed = 0;
  const failed: string[] = [];
  for (const module of vitest.state.getTestModules().filter((each) => !each.ok())) {
    const testIds = [...module.children.allTests('failed')].map(({ id }) => id);
    // A file that cannot be loaded, and a hook that fails, have no failing test.
    const which = testIds.length > 0 ? { testIds } : undefined;
    const alone = module.project.createSpecification(module.moduleId, which);
    const { testModules } = await vitest.runTestSpecifications([alone]);
    const again = tallyOf(testModules.filter(({ moduleId }) => moduleId === module.moduleId));
    passed += again.passed;
    failed.push(...again.failed);
  }
  const onlyAlone = tally.failed.filter((test) => !failed.includes(test));
  return { ...tally, passed: tally.passed + passed, failed, onlyAlone };
}

function tallyOf(modules: readonly TestModule[]): Tally {
  let passed = 0;
  const failed: string[] = [];
  const skipped: Skip[] = [];
  for (const module of modules) {
    const failedBefore = failed.length;
    for (const test of module.children.allTests()) {
      const name = `${module.relativeModuleId} > ${test.fullName}`;
      const result = test.result();
      if (result.state === 'passed') passed += 1;
      else if (result.state === 'skipped') skipped.push({ test: name, reason: result.note });
      else failed.push(name);
    }
    if (!module.ok() && failed.length === failedBefore) failed.push(module.relativeModuleId);
  }
  return { passed, failed, skipped };
}
