import { startVitest, type TestModule } from 'vitest/node';
import { type Skip, type Step, StepError, type Tally } from './steps.ts';

/** Runs the named projects of vitest.config.ts, or all of them. */
export function vitestStep(name: string, ...projects: readonly string[]): Step {
  return {
    name,
    live: true,
    async run() {
      const vitest = await startVitest('test', [], { run: true, project: [...projects] });
      const modules = vitest.state.getTestModules();
      const stray = vitest.state.getUnhandledErrors().length;
      await vitest.close();
      if (modules.length === 0) throw new StepError('No test file was found.');
      const tally = tallyOf(modules);
      return { ...tally, failed: tally.failed + stray };
    },
  };
}

function tallyOf(modules: readonly TestModule[]): Tally {
  let passed = 0;
  let failed = 0;
  const skipped: Skip[] = [];
  for (const module of modules) {
    let failedHere = 0;
    for (const test of module.children.allTests()) {
      const result = test.result();
      if (result.state === 'passed') passed += 1;
      else if (result.state === 'skipped')
        skipped.push({ test: test.fullName, reason: result.note });
      else failedHere += 1;
    }
    // A file that cannot be loaded, and a hook that fails, have no failing test.
    failed += module.ok() ? failedHere : Math.max(failedHere, 1);
  }
  return { passed, failed, skipped };
}
