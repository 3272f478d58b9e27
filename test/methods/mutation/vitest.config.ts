/** The tests that judge mutants: of the rooms that know no server, and the suite on memory. */
import type { ViteUserConfig } from 'vitest/config';
import project from '../../../vitest.config.ts';

const ROOMS = 'base,contract,queue,store-calls,core,primitives,jobs,stores/memory,testkit';

const { projects: _, ...test } = project.test ?? {};
const config: ViteUserConfig = {
  ...project,
  test: {
    ...test,
    env: { HOLDFAST_TESTS: 'without servers' },
    include: [`test/{${ROOMS}}/**/*.test.ts`, 'test/methods/conformance/memory.test.ts'],
  },
};

// biome-ignore lint/style/noDefaultExport: vitest asks for it.
export default config;
