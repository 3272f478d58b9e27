/** The tests that judge mutants: of the rooms that know no server, and the suite on memory. */
import type { ViteUserConfig } from 'vitest/config';
import project from '../../../vitest.config.ts';

const ROOMS = 'base,contract,queue,store-calls,core,primitives,jobs,stores/memory,testkit';

/** Of a test that a mutant keeps waiting; the slowest of them takes 0.7 s. */
const HANG_MS = 4000;

const { projects: _, ...test } = project.test ?? {};
const config: ViteUserConfig = {
  ...project,
  test: {
    ...test,
    ...{ testTimeout: HANG_MS, hookTimeout: HANG_MS },
    expect: { poll: { timeout: HANG_MS / 2, interval: 20 } },
    env: { HOLDFAST_TESTS: 'without servers' },
    include: [`test/{${ROOMS}}/**/*.test.ts`, 'test/methods/conformance/memory.test.ts'],
    // It loads the library anew, and would seem to cover all that runs while a file is loaded.
    exclude: ['test/core/copies.test.ts'],
  },
};

// biome-ignore lint/style/noDefaultExport: vitest asks for it.
export default config;
