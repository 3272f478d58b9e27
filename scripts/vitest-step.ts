/**
 * A project of vitest.config.ts as a step.
 *
 * Invariant: a step passes only if each of its tests has passed, and if nothing was thrown or
 * rejected beside them. vitest forgets what was thrown outside of tests whenever it runs tests
 * again, so that is collected after each run of it, before the next.
 */
import { createVitest, type TestModule, type Vitest } from 'vitest/node';
import { ASKED_AGAIN, askedTooOften, MOST_ASKED_AGAIN } from './asked-again.ts';
import { ROOT, type Skip, type Step, StepError, type Tally } from './steps.ts';

export interface TimedOptions {
  /** Where the vitest.config.ts is; default: here. */
  readonly root?: string;
  /** Where to remember what had to be asked again; default: for this user. */
  readonly memory?: string;
}

/** Runs the named project of vitest.config.ts, which has the name of the step. */
export function vitestStep(name: string): Step {
  return { name, live: true, run: () => runProject(name, ROOT, async (_, tally) => tally) };
}

/**
 * The same for tests whose locks end on real clocks: on a machine that stands still for as long,
 * they fail, and are right to. So when only a few fail, those are asked again, one at a time and
 * with nothing beside them. That they had to be is reported and remembered: a test that has to be
 * asked again twice in five runs fails, although it passes then.
 */
export function timedVitestStep(
  name: string,
  { root = ROOT, memory = ASKED_AGAIN }: TimedOptions = {},
): Step {
  const judge: Judge = async (vitest, tally) => {
    if (tally.failed.length > MOST_ASKED_AGAIN) return tally;
    const again = await askAgain(vitest, tally);
    const tooOften = askedTooOften(memory, name, again.onlyAlone);
    return { ...again, failed: [...again.failed, ...tooOften] };
  };
  return { name, live: true, run: () => runProject(name, root, judge) };
}

type Judge = (vitest: Vitest, tally: Tally) => Promise<Tally>;

async function runProject(name: string, root: string, judge: Judge): Promise<Tally> {
  const options = { root, run: true, watch: false, project: [name] };
  const vitest = await createVitest('test', options);
  await vitest.start();
  const modules = vitest.state.getTestModules();
  const stray = strayOf(vitest.state.getUnhandledErrors());
  const tally = modules.length === 0 ? undefined : await judge(vitest, tallyOf(modules));
  await vitest.close();
  if (!tally) throw new StepError('No test file was found.');
  return { ...tally, failed: [...tally.failed, ...stray.map((each) => `${name}: ${each}`)] };
}

async function askAgain(
  vitest: Vitest,
  tally: Tally,
): Promise<Tally & { readonly onlyAlone: readonly string[] }> {
  let passed = 0;
  const failed: string[] = [];
  const strays: string[] = [];
  for (const module of vitest.state.getTestModules().filter((each) => !each.ok())) {
    const testIds = [...module.children.allTests('failed')].map(({ id }) => id);
    // A file that cannot be loaded, and a hook that fails, have no failing test.
    const which = testIds.length > 0 ? { testIds } : undefined;
    const alone = module.project.createSpecification(module.moduleId, which);
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([alone]);
    const again = tallyOf(testModules.filter(({ moduleId }) => moduleId === module.moduleId));
    passed += again.passed;
    failed.push(...again.failed);
    strays.push(...strayOf(unhandledErrors).map((each) => `${module.relativeModuleId}: ${each}`));
  }
  const onlyAlone = tally.failed.filter((test) => !failed.includes(test));
  return { ...tally, passed: tally.passed + passed, failed: [...failed, ...strays], onlyAlone };
}

function strayOf(errors: readonly unknown[]): readonly string[] {
  const told = (error: unknown): string => (error as Partial<Error>)?.message ?? String(error);
  return errors.map((error) => `an error in no test: ${told(error)}`);
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
