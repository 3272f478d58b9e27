import { startVitest, type TestModule } from 'vitest/node';
import { type Skip, type Step, StepError, type Tally } from './steps.ts';

/** Runs the named project of vitest.config.ts, which has the name of the step. */
export function vitestStep(name: string): Step {
  return {
    name,
    live: true,
    async run() {
      const vitest = await startVitest('test', [], { run: true, project: [name] });
      const modules = vitest.state.getTestModules();
      const stray = vitest.state.getUnhandledErrors().map(() => `${name}: an error in no test`);
      await vitest.close();
      if (modules.length === 0) throw new StepError('No test file was found.');
      const tally = tallyOf(modules);
      return { ...tally, failed: [...tally.failed, ...stray] };
    },
  };
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
    // A file that cannot be loaded, and a hook that fails, have no failing test.
    if (!module.ok() && failed.length === failedBefore) failed.push(module.relativeModuleId);
  }
  return { passed, failed, skipped };
}
